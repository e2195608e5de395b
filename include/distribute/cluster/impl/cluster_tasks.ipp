#pragma once
#include <distribute/base/detail/usage_error.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/cluster_spec.hpp>
#include <distribute/cluster/detail/fnv1a.hpp>
#include <distribute/cluster/detail/lone_process.hpp>
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

DISTRIBUTE_INLINE void check_members(const ClusterTasks& tasks) {
  if (tasks.rank < 0 || tasks.rank >= tasks.size())
    throw InvalidArgumentError(
        str_cat("cluster: rank ", tasks.rank, " is not in a job of ", tasks.size(), " tasks"));
  if (tasks.size() > 1 && tasks.members[0].address.empty())
    throw InvalidArgumentError(str_cat("cluster: the leader, ", tasks.members[0].name(),
                                       ", has no address; the other tasks could not find it"));
  std::map<std::string, size_t> names, addresses;
  for (size_t i = 0; i < tasks.members.size(); ++i) {
    const ClusterMember& member = tasks.members[i];
    check_unique("the task", member.name(), i, names);
    if (member.address.empty()) continue;
    const auto address = net::parse_address(member.address);
    throw_if_error(annotate(address.status(), member.name()));
    if (address->port == 0)
      throw InvalidArgumentError(str_cat(member.name(), ": address \"", member.address,
                                         "\": the others cannot find port 0; give a number from 1 ",
                                         "to 65535"));
    check_unique("the address", member.address, i, addresses);
  }
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE std::string ClusterMember::name() const { return str_cat(type, " ", index); }

DISTRIBUTE_INLINE std::string ClusterMember::text() const {
  return address.empty() ? name() : str_cat(name(), " (", address, ")");
}

DISTRIBUTE_INLINE void check_tasks(const ClusterTasks& tasks) {
  base_internal::reading_usage([&] { cluster_internal::check_members(tasks); });
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

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE void add_members(ClusterTasks& tasks, const ClusterSpec& spec, const char* type) {
  for (const std::string& job : spec.jobs()) {
    if (job != type) continue;
    for (int index : spec.task_indices(job))
      tasks.members.push_back({job, index, spec.task_address(job, index)});
  }
}

DISTRIBUTE_INLINE ClusterPlace place_of(const ClusterRole& role) {
  check_complete(role);
  const ClusterSpec& spec = role.cluster;
  ClusterPlace place;
  const auto& type = role.task_type;
  const auto& id = role.task_id;
  if (spec.jobs().empty()) return place;
  if (!type || !id)
    throw InvalidArgumentError(
        "When `cluster_spec` is given, you must also specify `task_type` and `task_id`: the "
        "environment names a cluster, but not which of its tasks this process is");
  const auto& workers = role.world_size;
  if (!workers) multi_worker_util::validate_cluster_spec(spec, type, id);
  place.task_type = type->name();
  place.task_id = *id;
  place.is_chief = workers ? *id == 0 : multi_worker_util::is_chief(spec, type, *id);
  if (*type == TaskType::Evaluator) return place;
  add_members(place.tasks, spec, "chief");
  add_members(place.tasks, spec, "worker");
  for (int index = 1; workers && index < *workers; ++index)  // their addresses are not known yet
    place.tasks.members.push_back({"worker", index, ""});
  place.tasks.rank = workers ? *id : multi_worker_util::id_in_cluster(spec, type, *id);
  place.alone = place.tasks.members.size() < 2;
  if (place.alone) check_tasks(place.tasks);  // who joins a job checks it there
  return place;
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE ClusterPlace cluster_place(const ClusterRole& role) {
  cluster_internal::note_place_read();
  return base_internal::reading_usage([&] { return cluster_internal::place_of(role); });
}

}  // namespace distribute
