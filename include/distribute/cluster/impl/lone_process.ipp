#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/cluster/detail/lone_process.hpp>

#include <atomic>
#include <string_view>

namespace distribute::cluster_internal {

struct LoneProcess {
  std::atomic<bool> place_read{false};
  std::atomic<bool> checked{false};
};

DISTRIBUTE_INLINE void note_place_read() { in_process<LoneProcess>().place_read = true; }

/// Counts the strings with `part` in JSON text, save for keys. A parser of JSON would be a
/// twentieth of the code of a program of one process.
DISTRIBUTE_INLINE int count_strings(std::string_view json, std::string_view part) {
  int count = 0;
  for (size_t begin = json.find('"'); begin != json.npos; begin = json.find('"', begin)) {
    size_t end = begin + 1;
    while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
    if (end >= json.size()) return 0;  // no JSON
    const bool is_key = untrusted::trimmed(json.substr(end + 1)).starts_with(':');
    count += !is_key && json.substr(begin, end - begin).find(part) != json.npos;
    begin = end + 1;
  }
  return count;
}

/// Returns "WORLD_SIZE with 4 tasks" for the first of the launchers' variables that is set; "" when
/// it is one task.
DISTRIBUTE_INLINE std::string job_of_launcher(const Environment& variables) {
  for (const char* name :
       {"HOROVOD_SIZE", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE",
        "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "DISTRIBUTE_REPLICAS"})
    if (const auto tasks = untrusted::parse_int(variables.text(name)))
      return *tasks > 1 ? str_cat(name, " with ", *tasks, " tasks") : "";
  return "";
}

DISTRIBUTE_INLINE std::string job_of_variables(const Environment& variables) {
  for (const char* name : {"TF_CONFIG", "CLUSTER_SPEC"})  // whose tasks have addresses
    if (const int tasks = count_strings(variables.text(name), ":"); tasks > 1)
      return str_cat(name, " with ", tasks, " tasks");
  if (const int hosts = count_strings(variables.text("SM_HOSTS"), ""); hosts > 1)
    return str_cat("SM_HOSTS with ", hosts, " hosts");
  return job_of_launcher(variables);
}

DISTRIBUTE_INLINE std::string job_of_others(const Environment& variables) {
  const std::string job = job_of_variables(variables);
  if (job.empty()) return "";
  const bool servers = variables.text("TF_CONFIG").find("\"ps\"") != std::string::npos;
  return str_cat("the environment has ", job,
                 ", but the program makes no strategy for several. Use ",
                 servers ? "ParameterServerStrategy" : "MultiWorkerMirroredStrategy",
                 " or make_strategy(); if it shall train alone, unset the variable");
}

DISTRIBUTE_INLINE void warn_of_job_of_others() {
  LoneProcess& process = in_process<LoneProcess>();
  if (process.checked.load(std::memory_order_relaxed) || process.place_read) return;
  if (process.checked.exchange(true)) return;
  if (const std::string why = job_of_others({}); !why.empty())
    log_warning("cluster", "this process trains alone: " + why);
}

}  // namespace distribute::cluster_internal
