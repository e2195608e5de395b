#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/coordinator/cluster_coordinator.hpp>

namespace distribute {

DISTRIBUTE_INLINE void CoordinatorOptions::print(const std::string& line) const {
  if (log) return log(line);
  log_info("coordinator", line);
}

DISTRIBUTE_INLINE CoordinatorOptions CoordinatorOptions::from_environment() {
  const Environment variables;
  CoordinatorOptions options;
  variables.read("TF_COORDINATOR_SCHEDULE_START_DELAY", 0.0, 1e7, options.schedule_start_delay);
  variables.read("TF_COORDINATOR_SCHEDULE_START_DELAY_MAX", 0.0, 1e7,
                 options.schedule_start_delay_max);
  variables.read("TF_COORDINATOR_IGNORE_TRANSIENT_PS_FAILURES", 0, 1'000'000,
                 options.ignore_transient_ps_failures);
  variables.read("TF_COORDINATOR_IGNORE_TRANSIENT_TIMEOUTS", 0, 1'000'000,
                 options.ignore_transient_timeouts);
  variables.read("DISTRIBUTE_MIN_WORKERS", 0, 1'000'000, options.min_workers);
  variables.read_seconds("DISTRIBUTE_STARTUP_TIMEOUT", options.startup_timeout);
  variables.read_seconds("DISTRIBUTE_REPORT_INTERVAL", options.report_interval);
  variables.read_seconds("DISTRIBUTE_WORKER_RECOVERY_TIMEOUT", options.worker_recovery_timeout);
  variables.read_seconds("DISTRIBUTE_WATCHDOG_TIMEOUT", options.watchdog_timeout);
  return options;
}

}  // namespace distribute
