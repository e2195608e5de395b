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
  context_.check_current("update");
  const DeviceScope device(home_);  // of what the sums and the optimizer make
  if (!wishes().updates_on_host) return update_at_home(updates, gradients_are_reduced, kernel);
  const bool unused = gradients_are_reduced && context_.local_replica_id() > 0;
  local_.update_on_host(to_host(updates, unused ? nullptr : staging_.get()), gradients_are_reduced,
                        kernel);
}

DISTRIBUTE_INLINE void CentralReducer::update_at_home(std::span<const VariableUpdate> updates,
                                                      bool reduced, const UpdateKernel& kernel) {
  ReplicaUpdates mine{updates, reduced};
  ReplicaGroup& replicas = context_.local_replicas();
  replicas.meet(context_.local_replica_id(), "update", mine,
                [&](replica_internal::Meeting<ReplicaUpdates> all) {
                  context_.check_owner(updates);
                  replica_internal::update_component(summed_updates(all, replicas.notes()), 0,
                                                     kernel);
                });
}

}  // namespace distribute::strategy_internal
