#pragma once
#include <distribute/strategy/detail/bucket_reducer.hpp>

#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE BucketReducer::BucketReducer(LocalReplicaContext& context, WorkerState& state,
                                               std::unique_ptr<GradientReducer> sparse)
    : GradientReducer({.early = true}),
      buckets_(state.group.replicas[size_t(context.local_replica_id())],
               state.group.gpus.empty() ? state.group.replicas[size_t(context.local_replica_id())]
                                        : state.group.gpus[size_t(context.local_replica_id())],
               state.options),
      sparse_(std::move(sparse)),
      local_(context) {}

DISTRIBUTE_INLINE void BucketReducer::ready(const Variable& variable, const Tensor& gradient) {
  buckets_.ready(variable, gradient);
}

DISTRIBUTE_INLINE void BucketReducer::update(std::span<const VariableUpdate> updates,
                                             bool gradients_are_reduced,
                                             const UpdateKernel& kernel) {
  if (gradients_are_reduced) return local_.update(updates, true, kernel);
  if (has_sparse(updates)) {
    buckets_.drop();
    return sparse_->update(updates, false, kernel);
  }
  if (!buckets_.fits(updates)) buckets_.plan(updates);
  local_.update_with(updates, buckets_.reduce(updates), kernel);
}

}  // namespace distribute::strategy_internal
