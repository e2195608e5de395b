#pragma once
/// How long the threads of this process ran, and how long they waited for a core although they
/// could have run.

#include <distribute/base/config.hpp>

#include <string>

namespace distribute::base_internal {

/// Units   seconds, summed over threads since each began.
struct RunQueueTimes {
  double ran = 0, waited = 0;
};

/// Sums the times of all threads of this process but those of SCHED_IDLE, which are meant to wait
/// for others; gives zeros where the system does not tell. `root` stands before /proc, for tests.
/// Takes about 10 us for a thread. Source  Documentation/scheduler/sched-stats of Linux
/// (/proc/<pid>/schedstat)
RunQueueTimes run_queue_times(const std::string& root = "");

}  // namespace distribute::base_internal
