#pragma once
#include <distribute/autograd/op_trace.hpp>
#include <distribute/base/error.hpp>
#include <distribute/nn/detail/module_state.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/replica/replica_context.hpp>

#include <mutex>
#include <vector>

namespace distribute::nn {

namespace nn_internal {
DISTRIBUTE_INLINE int this_replica() {
  const ReplicaContext* replica = get_replica_context();
  return replica ? replica->replica_id_in_sync_group() : 0;
}
}  // namespace nn_internal

DISTRIBUTE_INLINE void Module::set_activity_regularizer(const Regularizer& regularizer) {
  state_->activity_regularizer = regularizer;
  if (regularizer) in_process<nn_internal::AnyPenalty>().exists = true;
}

DISTRIBUTE_INLINE const Regularizer& Module::activity_regularizer() const {
  return state_->activity_regularizer;
}

/// Keeps the penalty on a result until the next outermost call.
DISTRIBUTE_INLINE void Module::penalize(const Tensor& y) {
  if (!state_->activity_regularizer || !y || autograd_internal::active_trace()) return;
  Tensor penalty = state_->activity_regularizer(cast(y, DType::Float32));
  if (y.shape().rank() > 0)
    penalty = y.shape()[0] > 0 ? penalty / float(y.shape()[0]) : zeros_like(penalty);
  keep_penalty(penalty);
}

DISTRIBUTE_INLINE void Module::keep_penalty(const Tensor& penalty) {
  const std::lock_guard lock(state_->penalties_mutex);
  state_->penalties[nn_internal::this_replica()].push_back(penalty);
}

DISTRIBUTE_INLINE void Module::add_loss(const Tensor& loss) {
  if (!loss) throw InvalidArgumentError("add_loss: the tensor is empty");
  if (autograd_internal::active_trace()) return;
  in_process<nn_internal::AnyPenalty>().exists = true;
  keep_penalty(reduce_sum(cast(loss, DType::Float32)));
}

DISTRIBUTE_INLINE void Module::forget_penalties() {
  {
    const std::lock_guard lock(state_->penalties_mutex);
    state_->penalties.erase(nn_internal::this_replica());
  }
  for (auto& [name, part] : children_) part->forget_penalties();
}

DISTRIBUTE_INLINE void Module::collect_penalties(std::vector<Tensor>& all) const {
  {
    const std::lock_guard lock(state_->penalties_mutex);
    const auto own = state_->penalties.find(nn_internal::this_replica());
    if (own != state_->penalties.end())
      all.insert(all.end(), own->second.begin(), own->second.end());
  }
  for (const auto& [name, part] : children_) part->collect_penalties(all);
}

}  // namespace distribute::nn
