#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/multi_worker_util.hpp>
#include <distribute/strategy/detail/cluster_place.hpp>

namespace distribute::strategy_internal {

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
  place.task = {type->name(), *id,
                workers ? *id == 0 : multi_worker_util::is_chief(spec, type, *id)};
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

DISTRIBUTE_INLINE void check_elastic(const ElasticOptions& options, const ClusterPlace& place) {
  if (!place.alone || place.task.type == "evaluator" || options.min_workers < 2) return;
  throw InvalidArgumentError(
      str_cat("an elastic job needs at least ", options.min_workers,
              " workers (min_workers), but the environment names no other task: start with "
              "distribute run --elastic, or set TF_CONFIG"));
}

}  // namespace distribute::strategy_internal
