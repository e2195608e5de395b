#pragma once
#include <distribute/base/error.hpp>
#include <distribute/strategy/reduction.hpp>
#include <distribute/strategy/server_replica_context.hpp>

#include <vector>

namespace distribute {

/// What one replica brings to an update, and the step that it takes home.
struct ServerReplicaContext::Call {
  std::span<const VariableUpdate> updates;
  bool reduced;
  int64_t step = 0;

  static const Call& at(std::span<void* const> calls, size_t replica) {
    return *static_cast<const Call*>(calls[replica]);
  }
  void check_same(const Call& other, size_t replica) const;
  /// The updates with the gradients of all replicas summed.
  static std::vector<VariableUpdate> summed(std::span<void* const> calls);
};

DISTRIBUTE_INLINE void ServerReplicaContext::Call::check_same(const Call& other,
                                                              size_t replica) const {
  bool same = updates.size() == other.updates.size() && reduced == other.reduced;
  for (size_t i = 0; same && i < updates.size(); ++i)
    same = updates[i].variable == other.updates[i].variable;
  if (!same)
    throw InvalidArgumentError(
        concat("update: replica ", replica, " updates other variables than replica 0"));
}

DISTRIBUTE_INLINE std::vector<VariableUpdate> ServerReplicaContext::Call::summed(
    std::span<void* const> calls) {
  const Call& first = at(calls, 0);
  for (size_t r = 1; r < calls.size(); ++r) first.check_same(at(calls, r), r);
  std::vector<VariableUpdate> updates(first.updates.begin(), first.updates.end());
  if (first.reduced || calls.size() == 1) return updates;
  for (size_t u = 0; u < updates.size(); ++u) {
    std::vector<Tensor> gradients;
    for (size_t r = 0; r < calls.size(); ++r) gradients.push_back(at(calls, r).updates[u].gradient);
    updates[u].gradient =
        strategy_internal::reduce_tensors("update", ReduceOp::Sum, std::move(gradients));
  }
  return updates;
}

DISTRIBUTE_INLINE void ServerReplicaContext::update(std::span<const VariableUpdate> updates,
                                                    bool gradients_are_reduced,
                                                    const UpdateKernel& kernel) {
  update_and_count(updates, gradients_are_reduced, kernel, Variable());
}

DISTRIBUTE_INLINE int64_t ServerReplicaContext::update_and_count(
    std::span<const VariableUpdate> updates, bool gradients_are_reduced, const UpdateKernel& kernel,
    const Variable& counter) {
  check_current("update");
  Call call{updates, gradients_are_reduced};
  local_replicas().meet(local_replica_id(), "update", &call, [&](std::span<void* const> calls) {
    const int64_t step = link_->push(Call::summed(calls), kernel, counter);
    for (void* one : calls) static_cast<Call*>(one)->step = step;
  });
  return call.step;
}

DISTRIBUTE_INLINE void ClosureReplicaContext::merge(
    const std::function<void(std::span<void* const>)>& fn, void* argument) {
  const replica_internal::ModeScope mode({nullptr, &strategy(), -1});
  fn(std::span<void* const>(&argument, 1));
}

DISTRIBUTE_INLINE void ClosureReplicaContext::update(std::span<const VariableUpdate> updates,
                                                     bool gradients_are_reduced,
                                                     const UpdateKernel& kernel) {
  if (!link_) return SingleReplicaContext::update(updates, gradients_are_reduced, kernel);
  link_->push(updates, kernel, Variable());
}

DISTRIBUTE_INLINE int64_t ClosureReplicaContext::update_and_count(
    std::span<const VariableUpdate> updates, bool gradients_are_reduced, const UpdateKernel& kernel,
    const Variable& counter) {
  if (link_) return link_->push(updates, kernel, counter);
  return SingleReplicaContext::update_and_count(updates, gradients_are_reduced, kernel, counter);
}

}  // namespace distribute
