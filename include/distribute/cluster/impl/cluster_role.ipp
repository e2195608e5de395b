#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/cluster_spec.hpp>
#include <distribute/cluster/detail/lone_process.hpp>

#include <absl/strings/str_join.h>
#include <absl/strings/str_replace.h>
#include <nlohmann/json.hpp>

namespace distribute::cluster_internal {

/// Returns the answer, or nullopt when there is none.
template <typename Question>
auto if_known(const Question& question, std::string* problem = nullptr)
    -> std::optional<decltype(question())> {
  try {
    return question();
  } catch (const Error& error) {
    if (problem) *problem = error.what();
    return std::nullopt;
  }
}

/// Returns the cluster with all of its workers, the unknown ones without an address.
DISTRIBUTE_INLINE ClusterSpec with_all_workers(const ClusterSpec& spec, std::optional<int> size) {
  if (!size) return spec;
  ClusterSpec::Jobs jobs = spec.as_dict();
  std::map<int, std::string> workers = jobs["worker"].by_index();
  for (int i = 0; i < *size; ++i) workers.emplace(i, "");
  jobs["worker"] = JobTasks(std::move(workers));
  return ClusterSpec(std::move(jobs));
}

template <typename T>
nlohmann::json json_or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

DISTRIBUTE_INLINE ClusterRole role_to_join(const ClusterResolver& resolver) {
  note_place_read();
  ClusterRole role;
  role.incomplete = resolver.incomplete_because();
  role.cluster = resolver.cluster_spec();
  role.task_type = resolver.task_type();
  role.task_id = resolver.task_id();
  role.world_size = resolver.world_size();
  const auto& type = role.task_type;
  const auto& id = role.task_id;
  const ClusterSpec spec = with_all_workers(role.cluster, role.world_size);
  namespace util = multi_worker_util;
  role.is_chief = if_known([&] { return util::is_chief(spec, type, id); }, &role.problem);
  role.id_in_cluster = if_known([&] { return util::id_in_cluster(spec, type, id); });
  role.worker_count = if_known([&] { return util::worker_count(spec, type); });
  role.leader = if_known([&] { return util::collective_leader(spec, type, id); });
  role.should_save_checkpoint =
      if_known([&] { return util::should_save_checkpoint(spec, type, id); });
  return role;
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE ClusterRole cluster_role(const ClusterResolver& resolver) {
  using cluster_internal::if_known;
  ClusterRole role = cluster_internal::role_to_join(resolver);
  if (const auto layer = if_known([&] { return resolver.rpc_layer(); })) role.rpc_layer = *layer;
  role.master = if_known([&] { return resolver.master(); });
  return role;
}

DISTRIBUTE_INLINE void check_complete(const ClusterRole& role) {
  if (!role.incomplete.empty()) throw InvalidArgumentError(role.incomplete);
}

DISTRIBUTE_INLINE std::string ClusterRole::to_json() const {
  using cluster_internal::json_or_null;
  const std::pair<const char*, nlohmann::json> members[] = {
      {"cluster", json_of(cluster.to_json())},
      {"task_type", json_or_null(task_type ? std::optional(task_type->name()) : std::nullopt)},
      {"task_id", json_or_null(task_id)},
      {"rpc_layer", json_or_null(rpc_layer)},
      {"master", json_or_null(master)},
      {"is_chief", json_or_null(is_chief)},
      {"id_in_cluster", json_or_null(id_in_cluster)},
      {"worker_count", json_or_null(worker_count)},
      {"leader", json_or_null(leader)},
      {"should_save_checkpoint", json_or_null(should_save_checkpoint)}};
  std::vector<std::string> lines;
  for (const auto& [name, value] : members)
    lines.push_back(
        str_cat("  \"", name, "\": ", absl::StrReplaceAll(json_text(value, 2), {{"\n", "\n  "}})));
  return str_cat("{\n", absl::StrJoin(lines, ",\n"), "\n}");
}

}  // namespace distribute
