#pragma once
#include <distribute/device/placement.hpp>
#include <distribute/strategy/detail/central_reducer.hpp>
#include <distribute/strategy/detail/device_copies.hpp>
#include <distribute/strategy/detail/summed_updates.hpp>

#include <vector>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE void CentralReducer::update(std::span<const VariableUpdate> updates,
                                              bool gradients_are_reduced,
                                              const UpdateKernel& kernel) {
  context().check_current("update");
  const DeviceScope device(home_);  // of what the sums and the optimizer make
  if (!updates_on_host()) return update_at_home(updates, gradients_are_reduced, kernel);
  const bool unused = gradients_are_reduced && replica() > 0;
  update_on_host(to_host(updates, unused ? nullptr : staging_.get()), gradients_are_reduced,
                 kernel);
}

DISTRIBUTE_INLINE void CentralReducer::update_at_home(std::span<const VariableUpdate> updates,
                                                      bool reduced, const UpdateKernel& kernel) {
  ReplicaUpdates mine{updates, reduced};
  replicas().meet(replica(), "update", &mine, [&](std::span<void* const> all) {
    context().check_owner(updates);
    std::vector<ReplicaUpdates> every;
    for (void* one : all) every.push_back(*static_cast<const ReplicaUpdates*>(one));
    replica_internal::update_component(summed_updates(every, replicas().notes()), 0, kernel);
  });
}

}  // namespace distribute::strategy_internal
