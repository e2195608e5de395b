#pragma once
#include <distribute/device/placement.hpp>
#include <distribute/strategy/detail/central_replica_context.hpp>
#include <distribute/strategy/detail/device_copies.hpp>
#include <distribute/strategy/detail/summed_updates.hpp>

#include <vector>

namespace distribute {

DISTRIBUTE_INLINE void CentralReplicaContext::update(std::span<const VariableUpdate> updates,
                                                     bool gradients_are_reduced,
                                                     const UpdateKernel& kernel) {
  check_current("update");
  const DeviceScope device(home_);  // of what the sums and the optimizer make
  if (!updates_on_host()) return update_at_home(updates, gradients_are_reduced, kernel);
  const bool unused = gradients_are_reduced && local_replica_id() > 0;
  update_on_host(strategy_internal::to_host(updates, unused ? nullptr : staging_.get()),
                 gradients_are_reduced, kernel);
}

DISTRIBUTE_INLINE void CentralReplicaContext::update_at_home(
    std::span<const VariableUpdate> updates, bool reduced, const UpdateKernel& kernel) {
  strategy_internal::ReplicaUpdates mine{updates, reduced};
  local_replicas().meet(local_replica_id(), "update", &mine, [&](std::span<void* const> all) {
    check_owner(updates);
    std::vector<strategy_internal::ReplicaUpdates> replicas;
    for (void* one : all)
      replicas.push_back(*static_cast<const strategy_internal::ReplicaUpdates*>(one));
    const auto summed = strategy_internal::summed_updates(replicas, local_replicas().notes());
    replica_internal::update_component(summed, 0, kernel);
  });
}

}  // namespace distribute
