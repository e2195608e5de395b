#pragma once
#include <distribute/device/placement.hpp>
#include <distribute/strategy/detail/device_copies.hpp>
#include <distribute/strategy/detail/server_reducer.hpp>
#include <distribute/strategy/detail/summed_updates.hpp>

#include <string>
#include <vector>

namespace distribute::strategy_internal {

/// A replica's arguments of an update, and the number of the step that it gets.
struct ServerReducer::Call : ReplicaUpdates {
  int64_t step = 0;
};

DISTRIBUTE_INLINE int64_t ServerReducer::update_and_count(std::span<const VariableUpdate> updates,
                                                          bool gradients_are_reduced,
                                                          const UpdateKernel& kernel,
                                                          const Variable& counter) {
  context_.check_current("update");
  const DeviceScope host(Device{});
  const int replica = context_.local_replica_id();
  const bool unused = gradients_are_reduced && replica > 0;
  const std::vector<VariableUpdate> mine =
      to_host(updates, unused ? nullptr : link_->staging().get());
  Call call{{mine, gradients_are_reduced}};
  ReplicaGroup& replicas = context_.local_replicas();
  replicas.meet(replica, "update", call, [&](replica_internal::Meeting<Call> calls) {
    const int64_t step = link_->push(summed_updates(calls, replicas.notes()), kernel, counter);
    calls.for_each([&](Call& one) { one.step = step; });
  });
  return call.step;
}

DISTRIBUTE_INLINE void ServerReducer::update(std::span<const VariableUpdate> updates,
                                             bool gradients_are_reduced,
                                             const UpdateKernel& kernel) {
  update_and_count(updates, gradients_are_reduced, kernel, Variable());
}

DISTRIBUTE_INLINE int64_t ClosureReducer::update_and_count(std::span<const VariableUpdate> updates,
                                                           bool gradients_are_reduced,
                                                           const UpdateKernel& kernel,
                                                           const Variable& counter) {
  if (!link_)
    return GradientReducer::update_and_count(updates, gradients_are_reduced, kernel, counter);
  const DeviceScope host(Device{});
  return link_->push(to_host(updates, staging_.get()), kernel, counter);
}

DISTRIBUTE_INLINE void ClosureReducer::update(std::span<const VariableUpdate> updates, bool,
                                              const UpdateKernel& kernel) {
  const DeviceScope host(Device{});
  const auto mine = to_host(updates, staging_.get());
  if (!link_) return replica_internal::update_component(mine, 0, kernel);
  link_->push(mine, kernel, Variable());
}

}  // namespace distribute::strategy_internal
