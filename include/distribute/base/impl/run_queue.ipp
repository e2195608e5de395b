#pragma once
#include <distribute/base/detail/run_queue.hpp>

#include <cstdlib>
#include <fstream>

#include <dirent.h>
#include <sched.h>

namespace distribute::base_internal {

DISTRIBUTE_INLINE RunQueueTimes run_queue_times(const std::string& root) {
  RunQueueTimes all;
  const std::string folder = root + "/proc/self/task/";
  DIR* threads = ::opendir(folder.c_str());
  if (!threads) return all;
  while (const dirent* thread = ::readdir(threads)) {
    const int id = std::atoi(thread->d_name);
    if (id <= 0 || ::sched_getscheduler(id) == SCHED_IDLE) continue;
    std::ifstream file(folder + thread->d_name + "/schedstat");
    double ran = 0, waited = 0;
    if (!(file >> ran >> waited)) continue;
    all.ran += ran * 1e-9;
    all.waited += waited * 1e-9;
  }
  ::closedir(threads);
  return all;
}

}  // namespace distribute::base_internal
