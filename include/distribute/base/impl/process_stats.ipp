#pragma once
#include <distribute/base/process_stats.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include <sys/resource.h>
#include <unistd.h>

namespace distribute {

DISTRIBUTE_INLINE double seconds_since_process_start() {
  std::FILE* file = std::fopen("/proc/self/stat", "r");
  if (!file) return 0;
  char text[1024] = {};
  const size_t length = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  const char* field = length ? std::strrchr(text, ')') : nullptr;  // the name may hold blanks
  for (int i = 2; field && i < 22; ++i) field = std::strchr(field + 1, ' ');
  if (!field) return 0;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const double started =
      double(std::strtoull(field + 1, nullptr, 10)) / double(sysconf(_SC_CLK_TCK));
  return double(now.tv_sec) + double(now.tv_nsec) * 1e-9 - started;
}

DISTRIBUTE_INLINE int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

}  // namespace distribute
