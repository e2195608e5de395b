#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/cluster/detail/lone_process.hpp>

#include <atomic>
#include <mutex>

namespace distribute::cluster_internal {

struct LoneProcess {
  std::atomic<bool> place_read{false};
  std::atomic<bool> checked{false};
};

DISTRIBUTE_INLINE void note_place_read() { in_process<LoneProcess>().place_read = true; }

DISTRIBUTE_INLINE int number_of_tasks(const ClusterSpec& cluster) {
  int count = 0;
  for (const auto& [job, tasks] : cluster.as_dict()) count += tasks.size();
  return count;
}

DISTRIBUTE_INLINE untrusted::JsonValue json_of_variable(const Environment& variables,
                                                        const char* name) {
  return untrusted::parse_json(variables(name).value_or("null"), name);
}

/// Whether a platform whose resolver this program lacks says that the job has one task.
/// Throws  InvalidArgumentError for variables that are not as the platform writes them.
DISTRIBUTE_INLINE bool is_single_on_platform(const Environment& variables) {
  for (const char* count : {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "DISTRIBUTE_REPLICAS"})
    if (variables.has(count)) return variables.integer(count) == 1;
  const auto hosts = json_of_variable(variables, "SM_HOSTS");
  if (hosts.is_array()) return hosts.items.size() == 1;
  const auto vertex = json_of_variable(variables, "CLUSTER_SPEC");
  const auto* cluster = vertex.find("cluster");
  return cluster && number_of_tasks(cluster_spec_of(*cluster, "CLUSTER_SPEC")) <= 1;
}

/// Returns "3 tasks (chief: 1, worker: 2)".
DISTRIBUTE_INLINE std::string tasks_of(const ClusterRole& role) {
  if (role.world_size) return str_cat(*role.world_size, " tasks");
  std::string jobs;
  for (const auto& [job, tasks] : role.cluster.as_dict())
    jobs += str_cat(jobs.empty() ? "" : ", ", job, ": ", tasks.size());
  return str_cat(number_of_tasks(role.cluster), " tasks (", jobs, ")");
}

DISTRIBUTE_INLINE std::string described(const ImpliedResolver& implied) {
  const ClusterRole role = role_to_join(*implied.resolver);
  if (!role.incomplete.empty()) return role.incomplete;
  if (role.world_size.value_or(number_of_tasks(role.cluster)) < 2) return "";
  std::string self;
  if (role.task_type && role.task_id)
    self = str_cat(", of which this is ", role.task_type->name(), " ", *role.task_id);
  const char* strategy =
      role.cluster.has_job("ps") ? "ParameterServerStrategy" : "MultiWorkerMirroredStrategy";
  return str_cat("the environment has ", implied.reason, " with ", tasks_of(role), self,
                 ", but the program makes no strategy for several. Use ", strategy,
                 " or make_strategy(); if it shall train alone, unset these variables");
}

DISTRIBUTE_INLINE std::string job_of_others(const Environment& variables) {
  const auto problem = [](const Error& error) {
    return str_cat("the environment describes a job that the program does not join: ",
                   error.what());
  };
  try {
    return described(implied_resolver(variables));
  } catch (const UnimplementedError& error) {  // a platform whose resolver is not in the program
    return is_single_on_platform(variables) ? "" : problem(error);
  } catch (const Error& error) {
    return problem(error);
  }
}

DISTRIBUTE_INLINE void warn_of_job_of_others() {
  LoneProcess& process = in_process<LoneProcess>();
  if (process.checked.load(std::memory_order_relaxed) || process.place_read) return;
  if (process.checked.exchange(true)) return;
  if (const std::string why = job_of_others({}); !why.empty())
    log_warning("cluster", "this process trains alone: " + why);
}

}  // namespace distribute::cluster_internal
