#pragma once
/// An optimizer step of several replicas as one step: the same variables, the gradients summed.

#include <distribute/base/config.hpp>
#include <distribute/replica/detail/meeting.hpp>
#include <distribute/replica/replica_context.hpp>

#include <concepts>
#include <span>
#include <string>
#include <vector>

namespace distribute::strategy_internal {

/// Argument of one replica's update().
struct ReplicaUpdates {
  std::span<const VariableUpdate> updates;
  bool reduced = false;  // the gradients are the same sums on all replicas
};

/// Returns the updates with the gradients of all replicas summed, in the order of a tree.
/// Throws  InvalidArgumentError, ending in `notes`, when the replicas update different variables.
std::vector<VariableUpdate> summed_updates(std::span<const ReplicaUpdates> replicas,
                                           const std::string& notes);
/// Sums the updates that the replicas have brought to a meeting.
template <std::derived_from<ReplicaUpdates> T>
std::vector<VariableUpdate> summed_updates(replica_internal::Meeting<T> replicas,
                                           const std::string& notes) {
  std::vector<ReplicaUpdates> all;
  replicas.for_each([&](const ReplicaUpdates& one) { all.push_back(one); });
  return summed_updates(std::span<const ReplicaUpdates>(all), notes);
}

}  // namespace distribute::strategy_internal
