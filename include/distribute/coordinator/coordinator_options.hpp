#pragma once
/// Limits of a coordinator.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace distribute {

/// Times are in seconds. The name in the comment is the environment variable.
struct CoordinatorOptions {
  /// How many functions may wait; schedule() blocks beyond.
  int64_t queue_size = 256 * 1024;
  /// Worker i begins min(i * delay, maximum) later: TF_COORDINATOR_SCHEDULE_START_DELAY and
  /// TF_COORDINATOR_SCHEDULE_START_DELAY_MAX (0: no maximum).
  double schedule_start_delay = 0, schedule_start_delay_max = 0;
  /// Number of errors of one parameter server at which it counts as lost; the ones before are
  /// taken for passing trouble: TF_COORDINATOR_IGNORE_TRANSIENT_PS_FAILURES.
  int ignore_transient_ps_failures = 3;
  /// Number of timeouts that are tolerated first; -1: a tenth of the workers:
  /// TF_COORDINATOR_IGNORE_TRANSIENT_TIMEOUTS.
  int ignore_transient_timeouts = -1;
  /// Number of workers with which the job begins; the others of the cluster's list may come at any
  /// time and leave again: DISTRIBUTE_MIN_WORKERS. 0: all must be there.
  int min_workers = 0;
  /// All workers, or min_workers, must be there within this time: DISTRIBUTE_STARTUP_TIMEOUT.
  double startup_timeout = 300;
  double report_interval = 10;  // of those that are missing: DISTRIBUTE_REPORT_INTERVAL
  /// The time in which a lost worker may return: DISTRIBUTE_WORKER_RECOVERY_TIMEOUT.
  double worker_recovery_timeout = 3600;
  /// Seconds without an ended function after which a line says so: DISTRIBUTE_WATCHDOG_TIMEOUT.
  double watchdog_timeout = 300;
  /// Gets the lines that people should read, from any thread; empty: stderr.
  std::function<void(const std::string&)> log = {};

  /// To `log`, or as a message of the library where it is not set.
  void print(const std::string& line) const;
  /// The defaults with what the environment sets.
  /// Throws  InvalidArgumentError that names the variable, its value and what is allowed.
  static CoordinatorOptions from_environment();
};

}  // namespace distribute
