#pragma once
#include <distribute/base/error.hpp>
#include <distribute/strategy/detail/reduction.hpp>
#include <distribute/strategy/detail/summed_updates.hpp>

#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE void check_same_updates(const ReplicaUpdates& first, const ReplicaUpdates& other,
                                          size_t replica, const std::string& notes) {
  bool same = first.updates.size() == other.updates.size() && first.reduced == other.reduced;
  for (size_t i = 0; same && i < first.updates.size(); ++i)
    same = first.updates[i].variable == other.updates[i].variable;
  if (!same)
    throw InvalidArgumentError(
        str_cat("update: replica ", replica, " updates other variables than replica 0", notes));
}

DISTRIBUTE_INLINE std::vector<VariableUpdate> summed_updates(
    std::span<const ReplicaUpdates> replicas, const std::string& notes) {
  const ReplicaUpdates& first = replicas[0];
  for (size_t r = 1; r < replicas.size(); ++r) check_same_updates(first, replicas[r], r, notes);
  std::vector<VariableUpdate> updates(first.updates.begin(), first.updates.end());
  if (first.reduced || replicas.size() == 1) return updates;
  for (size_t u = 0; u < updates.size(); ++u) {
    std::vector<Tensor> gradients;
    for (const ReplicaUpdates& replica : replicas) gradients.push_back(replica.updates[u].gradient);
    updates[u].gradient = reduce_tensors("update", ReduceOp::Sum, std::move(gradients));
  }
  return updates;
}

}  // namespace distribute::strategy_internal
