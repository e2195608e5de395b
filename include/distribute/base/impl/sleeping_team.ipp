#pragma once
#include <distribute/base/detail/sleeping_team.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/threads.hpp>

#include <cstdlib>

#include <omp.h>

namespace distribute::base_internal {

/// Threads of the team, with those that compute one more than there are cores.
DISTRIBUTE_INLINE int sleepers_beside(int computing_threads) {
  const int missing = omp_get_num_procs() + 1 - computing_threads;
  return (missing < 1 ? 1 : missing) + 1;  // the first is not counted by every version of libgomp
}

DISTRIBUTE_INLINE bool SleepingTeam::is_useful(int computing_threads) {
  return !Environment().has("OMP_WAIT_POLICY") && !Environment().has("GOMP_SPINCOUNT") &&
         sleepers_beside(computing_threads) <= 32;
}

DISTRIBUTE_INLINE SleepingTeam::SleepingTeam(int computing_threads)
    : first_(start_thread("OpenMP's shorter waits", [this, computing_threads] {
// The team stays, asleep, for as long as the thread that made it.
#pragma omp parallel num_threads(sleepers_beside(computing_threads))
        { (void)omp_get_thread_num(); }
        std::unique_lock lock(mutex_);
        end_.wait(lock, [this] { return ended_; });
      })) {
}

DISTRIBUTE_INLINE SleepingTeam::~SleepingTeam() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  end_.notify_all();
  first_.join();
}

}  // namespace distribute::base_internal
