#pragma once
#include <distribute/strategy/detail/agreeing_reducer.hpp>
#include <distribute/strategy/detail/bucket_reducer.hpp>
#include <distribute/strategy/detail/host_reducer.hpp>
#include <distribute/strategy/detail/tensor_collectives.hpp>
#include <distribute/strategy/detail/worker_reducer.hpp>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE void WorkerReducer::update(std::span<const VariableUpdate> updates,
                                             bool gradients_are_reduced,
                                             const UpdateKernel& kernel) {
  if (gradients_are_reduced) return LocalReducer::update(updates, true, kernel);
  update_with(updates, all_reduce_tensors(group(), ReduceOp::Sum, gradients_of(updates)), kernel);
}

DISTRIBUTE_INLINE std::unique_ptr<replica_internal::GradientReducer> choose_worker_reducer(
    LocalReplicaContext& context, WorkerState& state) {
  if (state.host) return std::make_unique<HostReducer>(context, state);
  if (!state.on_gpus || !state.group.gpus.empty())
    return std::make_unique<BucketReducer>(context, state);
  if (state.alone_on_gpus()) return std::make_unique<LocalReducer>(context);
  return std::make_unique<WorkerReducer>(context, state);
}

DISTRIBUTE_INLINE std::unique_ptr<replica_internal::GradientReducer> make_worker_reducer(
    LocalReplicaContext& context, WorkerState& state) {
  return std::make_unique<AgreeingReducer>(context, state, choose_worker_reducer(context, state));
}

}  // namespace distribute::strategy_internal
