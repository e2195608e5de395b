#pragma once
/// Time that the threads of this process ran, and time that they waited for a core.

#include <distribute/base/config.hpp>

#include <string>

namespace distribute::base_internal {

/// Times of the threads.
/// Units   seconds, summed over threads since each began.
struct RunQueueTimes {
  double ran = 0, waited = 0;
};

/// Sums the times of all threads of this process except those of SCHED_IDLE, which are meant to
/// wait for others; returns zeros if the system does not tell. `root` is put before /proc, for
/// tests. It takes about 10 us for a thread.
/// Source  Documentation/scheduler/sched-stats of Linux (/proc/<pid>/schedstat)
RunQueueTimes run_queue_times(const std::string& root = "");

}  // namespace distribute::base_internal
