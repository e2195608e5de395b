#pragma once
#include <distribute/base/logging.hpp>
#include <distribute/cluster/environment.hpp>
#include <distribute/coordinator/cluster_coordinator.hpp>

namespace distribute {

DISTRIBUTE_INLINE void CoordinatorOptions::print(const std::string& line) const {
  if (log) return log(line);
  log_info("coordinator", line);
}

DISTRIBUTE_INLINE CoordinatorOptions CoordinatorOptions::from_environment() {
  using cluster_internal::read_limit;
  using cluster_internal::read_seconds;
  CoordinatorOptions options;
  read_limit("TF_COORDINATOR_SCHEDULE_START_DELAY", 0.0, 1e7, options.schedule_start_delay);
  read_limit("TF_COORDINATOR_SCHEDULE_START_DELAY_MAX", 0.0, 1e7, options.schedule_start_delay_max);
  read_limit("TF_COORDINATOR_IGNORE_TRANSIENT_PS_FAILURES", 0, 1'000'000,
             options.ignore_transient_ps_failures);
  read_limit("TF_COORDINATOR_IGNORE_TRANSIENT_TIMEOUTS", 0, 1'000'000,
             options.ignore_transient_timeouts);
  read_limit("DISTRIBUTE_MIN_WORKERS", 0, 1'000'000, options.min_workers);
  read_seconds("DISTRIBUTE_STARTUP_TIMEOUT", options.startup_timeout);
  read_seconds("DISTRIBUTE_REPORT_INTERVAL", options.report_interval);
  read_seconds("DISTRIBUTE_WORKER_RECOVERY_TIMEOUT", options.worker_recovery_timeout);
  read_seconds("DISTRIBUTE_WATCHDOG_TIMEOUT", options.watchdog_timeout);
  return options;
}

}  // namespace distribute
