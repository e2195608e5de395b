#pragma once
#include <distribute/strategy/detail/agreeing_reducer.hpp>
#include <distribute/strategy/detail/bucket_reducer.hpp>
#include <distribute/strategy/detail/host_reducer.hpp>
#include <distribute/strategy/detail/tensor_collectives.hpp>
#include <distribute/strategy/detail/worker_reducer.hpp>

#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE void WorkerReducer::update(std::span<const VariableUpdate> updates,
                                             bool gradients_are_reduced,
                                             const UpdateKernel& kernel) {
  if (gradients_are_reduced) return LocalReducer::update(updates, true, kernel);
  update_with(updates, all_reduce_tensors(group(), ReduceOp::Sum, gradients_of(updates)), kernel);
}

DISTRIBUTE_INLINE std::unique_ptr<LocalReducer> choose_worker_reducer(LocalReplicaContext& context,
                                                                      WorkerState& state) {
  if (state.host) return std::make_unique<HostReducer>(context, state);
  std::unique_ptr<LocalReducer> at_once = std::make_unique<WorkerReducer>(context, state);
  if (state.alone_on_gpus()) at_once = std::make_unique<LocalReducer>(context);
  if (state.on_gpus && state.group.gpus.empty()) return at_once;
  return std::make_unique<BucketReducer>(context, state, std::move(at_once));
}

DISTRIBUTE_INLINE std::unique_ptr<replica_internal::GradientReducer> make_worker_reducer(
    LocalReplicaContext& context, WorkerState& state) {
  return std::make_unique<AgreeingReducer>(context, state, choose_worker_reducer(context, state));
}

}  // namespace distribute::strategy_internal
