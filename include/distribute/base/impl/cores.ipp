#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/process_state.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace distribute {

namespace base_internal {

/// Works also if the system has more cores than fit into a cpu_set_t.
DISTRIBUTE_INLINE int cores_by_affinity(int online) {
  for (int cores = 1024; cores <= 1 << 16; cores *= 4) {
    cpu_set_t* set = CPU_ALLOC(size_t(cores));
    const size_t bytes = CPU_ALLOC_SIZE(size_t(cores));
    const bool fits = set && ::sched_getaffinity(::getpid(), bytes, set) == 0;
    const int count = fits ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (fits) return std::max(count, 1);
  }
  return online;
}

/// Returns the first number of OMP_NUM_THREADS, as OpenMP uses it for the outermost loops; 0: none.
DISTRIBUTE_INLINE int threads_by_environment() {
  return std::clamp(std::atoi(Environment().text("OMP_NUM_THREADS").c_str()), 0, 1 << 16);
}

/// Read at the first use.
struct ProcessCores {
  const CoreLimits limits = find_core_limits();
  std::atomic<int> tasks{1};
  std::atomic<bool> logged{false};
};

DISTRIBUTE_INLINE void choose_threads() {
  if (omp_get_max_threads() > usable_threads() && core_limits().environment == 0)
    omp_set_num_threads(usable_threads());
}

/// The one thread of a forked child writes it before any other can start.
struct ForkedTeam {
  bool is_child = false;
  // The handler finds the object made.
  const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { in_process<ForkedTeam>().is_child = true; });
};

DISTRIBUTE_INLINE void check_no_fork() {
  if (in_process<ForkedTeam>().is_child)
    throw FailedPreconditionError(
        "this process was forked from one that had computed with several threads, which a fork "
        "does not copy: fork before the first operation, exec a program in the child, or let it "
        "compute with one thread (set_intra_op_threads(1))");
}

}  // namespace base_internal

DISTRIBUTE_INLINE double CoreLimits::usable() const {
  return quota ? std::min(double(allowed), *quota) : allowed;
}

DISTRIBUTE_INLINE int CoreLimits::cores() const {
  return std::max(int(std::floor(usable() + 0.5)), 1);
}

DISTRIBUTE_INLINE std::string CoreLimits::text() const {
  const std::string of = str_cat(" of ", online, " cores");
  if (quota && *quota < allowed)
    return str_cat(*quota, of, " by the container's quota", quota_file.empty() ? "" : " (",
                   quota_file, quota_file.empty() ? "" : ")");
  if (allowed < online) return str_cat(allowed, of, " by the affinity of the process");
  return str_cat(online, online == 1 ? " core" : " cores");
}

DISTRIBUTE_INLINE CoreLimits find_core_limits(const std::string& root) {
  CoreLimits limits;
  limits.online = std::max(int(::sysconf(_SC_NPROCESSORS_ONLN)), 1);
  limits.allowed = base_internal::cores_by_affinity(limits.online);
  limits.environment = base_internal::threads_by_environment();
  if (auto quota = ControlGroups(root).cores()) {
    limits.quota = quota->value;
    limits.quota_file = std::move(quota->file);
  }
  return limits;
}

DISTRIBUTE_INLINE const CoreLimits& core_limits() {
  return in_process<base_internal::ProcessCores>().limits;
}

DISTRIBUTE_INLINE int cores_for_tasks(int tasks) {
  return std::max(core_limits().cores() / std::max(tasks, 1), 1);
}
DISTRIBUTE_INLINE int usable_cores() {
  return cores_for_tasks(in_process<base_internal::ProcessCores>().tasks);
}

DISTRIBUTE_INLINE int threads_for_tasks(int tasks) {
  const int environment = core_limits().environment;
  return environment > 0 ? environment : cores_for_tasks(tasks);
}

DISTRIBUTE_INLINE void set_tasks_on_host(int tasks) {
  in_process<base_internal::ProcessCores>().tasks = std::max(tasks, 1);
}

DISTRIBUTE_INLINE int usable_threads() {
  return threads_for_tasks(in_process<base_internal::ProcessCores>().tasks);
}

DISTRIBUTE_INLINE void log_core_limits() {
  auto& cores = in_process<base_internal::ProcessCores>();
  const CoreLimits& limits = cores.limits;
  if (limits.usable() >= limits.online || cores.logged.exchange(true)) return;
  log_info("base",
           str_cat(limits.text(), "; operations compute with ", intra_op_threads(),
                   intra_op_threads() == 1 ? " thread" : " threads",
                   limits.environment > 0 ? " (OMP_NUM_THREADS)" : ""),
           {{"usable_cores", limits.usable()}, {"threads", intra_op_threads()}});
}

}  // namespace distribute
