#pragma once
#include <distribute/device/placement.hpp>
#include <distribute/strategy/detail/device_copies.hpp>
#include <distribute/strategy/detail/server_replica_context.hpp>
#include <distribute/strategy/detail/summed_updates.hpp>

#include <vector>

namespace distribute {

/// What one replica brings to an update, and the step that it takes home.
struct ServerReplicaContext::Call {
  strategy_internal::ReplicaUpdates mine;
  int64_t step = 0;

  /// The updates with the gradients of all replicas summed.
  static std::vector<VariableUpdate> summed(std::span<void* const> calls, const std::string& notes);
};

DISTRIBUTE_INLINE std::vector<VariableUpdate> ServerReplicaContext::Call::summed(
    std::span<void* const> calls, const std::string& notes) {
  std::vector<strategy_internal::ReplicaUpdates> replicas;
  for (void* one : calls) replicas.push_back(static_cast<const Call*>(one)->mine);
  return strategy_internal::summed_updates(replicas, notes);
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
  const DeviceScope host(Device{});
  const bool unused = gradients_are_reduced && local_replica_id() > 0;
  const std::vector<VariableUpdate> mine =
      strategy_internal::to_host(updates, unused ? nullptr : link_->staging().get());
  Call call{{mine, gradients_are_reduced}};
  local_replicas().meet(local_replica_id(), "update", &call, [&](std::span<void* const> calls) {
    const int64_t step =
        link_->push(Call::summed(calls, local_replicas().notes()), kernel, counter);
    for (void* one : calls) static_cast<Call*>(one)->step = step;
  });
  return call.step;
}

DISTRIBUTE_INLINE void ClosureReplicaContext::merge(
    const std::function<void(std::span<void* const>)>& fn, void* argument) {
  const replica_internal::ModeScope mode(
      {nullptr, &strategy(), -1, replica_internal::mode_stack().back().group});
  fn(std::span<void* const>(&argument, 1));
}

DISTRIBUTE_INLINE void ClosureReplicaContext::update(std::span<const VariableUpdate> updates,
                                                     bool gradients_are_reduced,
                                                     const UpdateKernel& kernel) {
  const DeviceScope host(Device{});
  const auto mine = strategy_internal::to_host(updates, staging_.get());
  if (!link_) return SingleReplicaContext::update(mine, gradients_are_reduced, kernel);
  link_->push(mine, kernel, Variable());
}

DISTRIBUTE_INLINE int64_t ClosureReplicaContext::update_and_count(
    std::span<const VariableUpdate> updates, bool gradients_are_reduced, const UpdateKernel& kernel,
    const Variable& counter) {
  if (link_) {
    const DeviceScope host(Device{});
    return link_->push(strategy_internal::to_host(updates, staging_.get()), kernel, counter);
  }
  return SingleReplicaContext::update_and_count(updates, gradients_are_reduced, kernel, counter);
}

}  // namespace distribute
