#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_tasks.hpp>
#include <distribute/cluster/detail/fnv1a.hpp>
#include <distribute/net/address.hpp>

#include <cstdio>
#include <map>

namespace distribute::cluster_internal {

/// Throws when two members have the same `key`.
DISTRIBUTE_INLINE void check_unique(const std::string& what, const std::string& key, size_t number,
                                    std::map<std::string, size_t>& seen) {
  const auto [first, fresh] = seen.try_emplace(key, number);
  if (!fresh)
    throw InvalidArgumentError(str_cat("cluster: ", what, " ", key,
                                       " occurs twice, as task number ", first->second, " and ",
                                       number));
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE std::string ClusterMember::name() const { return str_cat(type, " ", index); }

DISTRIBUTE_INLINE std::string ClusterMember::text() const {
  return address.empty() ? name() : str_cat(name(), " (", address, ")");
}

DISTRIBUTE_INLINE void check_tasks(const ClusterTasks& tasks) {
  if (tasks.rank < 0 || tasks.rank >= tasks.size())
    throw InvalidArgumentError(
        str_cat("cluster: rank ", tasks.rank, " is not in a job of ", tasks.size(), " tasks"));
  if (tasks.size() > 1 && tasks.members[0].address.empty())
    throw InvalidArgumentError(str_cat("cluster: the leader, ", tasks.members[0].name(),
                                       ", has no address; the other tasks could not find it"));
  std::map<std::string, size_t> names, addresses;
  for (size_t i = 0; i < tasks.members.size(); ++i) {
    const ClusterMember& member = tasks.members[i];
    cluster_internal::check_unique("the task", member.name(), i, names);
    if (member.address.empty()) continue;
    throw_if_error(annotate(net::parse_address(member.address).status(), member.name()));
    cluster_internal::check_unique("the address", member.address, i, addresses);
  }
}

DISTRIBUTE_INLINE std::string job_fingerprint(const ClusterTasks& tasks) {
  std::string all;
  for (const ClusterMember& member : tasks.members)
    all += str_cat(member.name(), "=", member.address, "\n");
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx",
                static_cast<unsigned long long>(cluster_internal::fnv1a(all)));
  std::string leader = tasks.members[0].text();
  if (leader.size() > 100) leader.resize(100);
  return str_cat(tasks.size(), " tasks led by ", leader, ", ", digits);
}

}  // namespace distribute
