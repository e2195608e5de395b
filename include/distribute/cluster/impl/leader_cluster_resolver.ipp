#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/leader_cluster_resolver.hpp>
#include <distribute/net/address.hpp>

namespace distribute {

DISTRIBUTE_INLINE LeaderClusterResolver::World cluster_internal::checked_world(
    int rank, int size, std::string leader, const std::string& rank_name,
    const std::string& size_name) {
  constexpr int kMost = 1'000'000;
  if (size < 1 || size > kMost)
    throw InvalidArgumentError(str_cat(size_name, " must be from 1 to ", kMost, ", not ", size));
  if (rank < 0 || rank >= size)
    throw InvalidArgumentError(str_cat(rank_name, " must be from 0 to ", size - 1, ", because ",
                                       size_name, " is ", size, "; it is ", rank));
  return {.rank = rank, .size = size, .leader = std::move(leader)};
}

DISTRIBUTE_INLINE ClusterSpec LeaderClusterResolver::cluster_spec() const {
  return ClusterSpec{{"worker", {world().leader}}};
}

DISTRIBUTE_INLINE std::string LeaderClusterResolver::incomplete_because() const {
  const World all = world();
  const auto leader = net::parse_address(all.leader);
  if (!leader.ok() || !leader->is_loopback() || all.local_size.value_or(all.size) >= all.size)
    return "";
  return str_cat("rank 0 is to be found at ", all.leader, ", which is every host's own, but only ",
                 *all.local_size, " of ", all.size,
                 " ranks are on this host: set MASTER_ADDR to the host of rank 0");
}

DISTRIBUTE_INLINE std::string LeaderClusterResolver::find_master(
    const std::optional<TaskType>& given_type, std::optional<int> given_id,
    const std::optional<std::string>& rpc) const {
  const World all = world();
  if (all.size == 1) return "";
  const TaskType type = given_type ? *given_type : TaskType(TaskType::Worker);
  const int id = given_id.value_or(task_id().value_or(all.rank));
  const std::string layer = rpc ? *rpc : rpc_layer().value_or("");
  return cluster_internal::format_master_url(cluster_spec().task_address(type.name(), id), layer);
}

}  // namespace distribute
