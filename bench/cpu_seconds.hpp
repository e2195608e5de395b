#pragma once
/// The CPU time of a bench.

#include <ctime>

/// Returns the CPU time that all threads of the process have used, in seconds.
inline double cpu_seconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}
