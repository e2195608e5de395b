#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_spec.hpp>

namespace distribute::multi_worker_util {

DISTRIBUTE_INLINE bool is_allowed(const std::string& job) {
  return job == TaskType::Chief || job == TaskType::Worker || job == TaskType::Evaluator ||
         job == TaskType::ParameterServer;
}

DISTRIBUTE_INLINE int task_count(const ClusterSpec& spec, std::string_view job) {
  return spec.has_job(std::string(job)) ? spec.num_tasks(std::string(job)) : 0;
}

DISTRIBUTE_INLINE void check_jobs(const ClusterSpec& spec) {
  for (const std::string& job : spec.jobs())
    if (!is_allowed(job))
      throw InvalidArgumentError(
          "Disallowed task type found in cluster spec: " + untrusted::shown(job) +
          "; allowed types are chief, worker, ps and evaluator" +
          (job == TaskType::Master ? " (rename 'master' to 'chief')" : ""));
}

DISTRIBUTE_INLINE void check_task_id(const ClusterSpec& spec, const TaskType& type,
                                     std::optional<int> id) {
  if (!spec.has_job(type.name())) return;  // an evaluator outside the cluster
  const int count = spec.num_tasks(type.name());
  if (!id)
    throw InvalidArgumentError("the task of type " + untrusted::shown(type.name()) + " has no id");
  if (*id < 0) throw InvalidArgumentError(str_cat("The `task_id` ", *id, " is negative"));
  if (*id >= count)
    throw InvalidArgumentError(str_cat("The `task_id` ", *id, " exceeds the maximum id of ",
                                       type.name(), ": the cluster has ", count, " of them"));
}

DISTRIBUTE_INLINE void validate_cluster_spec(const ClusterSpec& spec,
                                             const std::optional<TaskType>& type,
                                             std::optional<int> id) {
  check_jobs(spec);
  if (type && !is_allowed(type->name()))
    throw InvalidArgumentError("Unrecognized task_type: " + untrusted::shown(type->name()) +
                               ", valid task types are chief, worker, ps and evaluator");
  if (type && !spec.has_job(type->name()) && *type != TaskType::Evaluator)
    throw InvalidArgumentError("`task_type` " + untrusted::shown(type->name()) +
                               " not found in cluster_spec " + spec.to_json().substr(0, 200));
  for (const std::string_view one : {TaskType::Chief, TaskType::Evaluator})
    if (task_count(spec, one) > 1)
      throw InvalidArgumentError(str_cat("There must be at most one '", one, "' job."));
  if (type) check_task_id(spec, *type, id);
}

DISTRIBUTE_INLINE bool is_chief(const ClusterSpec& spec, const std::optional<TaskType>& type,
                                std::optional<int> id) {
  validate_cluster_spec(spec, type, id);
  if (!type) return false;
  if (*type == TaskType::Chief || *type == TaskType::Evaluator) return true;
  return *type == TaskType::Worker && id == 0 && !spec.has_job(std::string(TaskType::Chief));
}

DISTRIBUTE_INLINE int id_in_cluster(const ClusterSpec& spec, const std::optional<TaskType>& type,
                                    std::optional<int> id) {
  validate_cluster_spec(spec, type, id);
  if (type == TaskType::Chief) return 0;
  if (id && type == TaskType::Worker) return *id + task_count(spec, TaskType::Chief);
  if (id && type == TaskType::Evaluator) return *id;
  throw InvalidArgumentError("There is no id for task_type " +
                             (type ? untrusted::shown(type->name()) : "None"));
}

DISTRIBUTE_INLINE int worker_count(const ClusterSpec& spec, const std::optional<TaskType>& type) {
  validate_cluster_spec(spec, type, 0);
  if (!type || *type == TaskType::ParameterServer)
    throw InvalidArgumentError("Unexpected `task_type` " +
                               (type ? untrusted::shown(type->name()) : "None"));
  if (*type == TaskType::Evaluator) return spec.num_tasks(type->name());
  return task_count(spec, TaskType::Chief) + task_count(spec, TaskType::Worker);
}

DISTRIBUTE_INLINE std::string first_task(std::string_view job) {
  return str_cat("/job:", job, "/replica:0/task:0");
}

DISTRIBUTE_INLINE std::string chief_or_first_worker(const ClusterSpec& spec) {
  for (const std::string_view job : {TaskType::Chief, TaskType::Worker})
    if (spec.has_job(std::string(job))) return first_task(job);
  throw InvalidArgumentError("no task can lead: the cluster has neither a chief nor a worker");
}

DISTRIBUTE_INLINE std::string collective_leader(const ClusterSpec& spec,
                                                const std::optional<TaskType>& type,
                                                std::optional<int> id) {
  if (!spec) return "";
  validate_cluster_spec(spec, type, id);
  return type == TaskType::Evaluator ? "" : chief_or_first_worker(spec);
}

DISTRIBUTE_INLINE std::string coordination_leader(const ClusterSpec& spec) {
  if (!spec) return "";
  if (spec.has_job(std::string(TaskType::ParameterServer)))
    return first_task(TaskType::ParameterServer);
  return chief_or_first_worker(spec);
}

DISTRIBUTE_INLINE bool should_save_checkpoint(const ClusterSpec& spec,
                                              const std::optional<TaskType>& type,
                                              std::optional<int> id) {
  return !spec || is_chief(spec, type, id);
}

}  // namespace distribute::multi_worker_util
