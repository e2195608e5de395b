#pragma once
#include <distribute/base/limits.hpp>

#include <ctime>

#include <sys/resource.h>
#include <unistd.h>

namespace distribute {

DISTRIBUTE_INLINE double seconds_since_process_start() {
  const std::vector<double> stat = base_internal::process_stat();
  if (stat.size() <= 18) return 0;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9 - stat[18] / double(sysconf(_SC_CLK_TCK));
}

DISTRIBUTE_INLINE int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

}  // namespace distribute
