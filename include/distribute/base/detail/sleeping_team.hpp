#pragma once
/// Lets the waits of GNU OpenMP's threads sleep almost at once, and spin again.

#include <distribute/base/config.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace distribute::base_internal {

/// GNU OpenMP reads how long its threads spin (GOMP_SPINCOUNT, OMP_WAIT_POLICY) once, before main.
/// But while it manages more threads than there are cores they spin for 100 rounds only, instead of
/// 300,000. While this lives there are that many: a team of its own, whose threads sleep. Other
/// implementations of OpenMP are not changed by it.
/// Source  libgomp: config/linux/wait.h (do_spin), env.c (gomp_throttled_spin_count_var)
class SleepingTeam {
 public:
  /// Whether it can do anything here: not where the environment sets how threads wait, nor where it
  /// would take more than 32 threads, as many cores are visible that the process may not use.
  static bool is_useful(int computing_threads);

  /// Throws  ResourceExhaustedError when there is no thread to be had.
  explicit SleepingTeam(int computing_threads);
  ~SleepingTeam();
  SleepingTeam(const SleepingTeam&) = delete;
  SleepingTeam& operator=(const SleepingTeam&) = delete;

 private:
  std::mutex mutex_;  // guards ended_
  std::condition_variable end_;
  bool ended_ = false;
  std::thread first_;  // of the team
};

}  // namespace distribute::base_internal
