#pragma once
#include <distribute/strategy/detail/agreeing_reducer.hpp>
#include <distribute/strategy/detail/bucket_reducer.hpp>
#include <distribute/strategy/detail/host_reducer.hpp>
#include <distribute/strategy/detail/sharded_reducer.hpp>
#include <distribute/strategy/detail/tensor_collectives.hpp>
#include <distribute/strategy/detail/watched_reducer.hpp>
#include <distribute/strategy/detail/worker_reducer.hpp>

#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE void WorkerReducer::update(std::span<const VariableUpdate> updates,
                                             bool gradients_are_reduced,
                                             const UpdateKernel& kernel) {
  if (gradients_are_reduced) return local_.update(updates, true, kernel);
  local_.update_with(updates, all_reduce_tensors(group_, ReduceOp::Sum, gradients_of(updates)),
                     kernel);
}

/// Makes the reducer that sums and updates.
DISTRIBUTE_INLINE std::unique_ptr<replica_internal::GradientReducer> make_summing_part(
    LocalReplicaContext& context, WorkerState& state) {
  if (state.shards_slots) return std::make_unique<ShardedReducer>(context, state);
  if (state.host) return std::make_unique<HostReducer>(context, state);
  std::unique_ptr<replica_internal::GradientReducer> at_once;
  if (state.alone_on_gpus())
    at_once = std::make_unique<LocalReducer>(context);
  else
    at_once = std::make_unique<WorkerReducer>(context, state);
  if (state.on_gpus && state.group.gpus.empty()) return at_once;
  return std::make_unique<BucketReducer>(context, state, std::move(at_once));
}

DISTRIBUTE_INLINE std::unique_ptr<replica_internal::GradientReducer> make_worker_reducer(
    LocalReplicaContext& context, WorkerState& state) {
  auto parts = make_summing_part(context, state);
  if (state.group.num_workers > 1)
    parts = std::make_unique<WatchedReducer>(context, state, std::move(parts));
  return std::make_unique<AgreeingReducer>(context, state, std::move(parts));
}

}  // namespace distribute::strategy_internal
