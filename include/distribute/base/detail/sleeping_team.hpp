#pragma once
/// Makes GNU OpenMP's threads sleep almost at once when they wait, until it is destroyed.

#include <distribute/base/config.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>

namespace distribute::base_internal {

/// GNU OpenMP reads how long its threads spin (GOMP_SPINCOUNT, OMP_WAIT_POLICY) once, before main.
/// But while it has more threads than there are cores they spin for only 100 rounds instead of
/// 300,000. This class makes that number of threads while it lives, as a separate team whose
/// threads sleep. Other implementations of OpenMP are not affected.
/// Source  libgomp: config/linux/wait.h (do_spin), env.c (gomp_throttled_spin_count_var)
class SleepingTeam {
 public:
  /// Whether it has an effect here: not if the environment sets how threads wait, nor if it would
  /// need more than 32 threads, as many cores are visible that the process may not use.
  static bool is_useful(int computing_threads);

  /// Throws  ResourceExhaustedError when no thread can be made.
  explicit SleepingTeam(int computing_threads);
  ~SleepingTeam();
  SleepingTeam(const SleepingTeam&) = delete;
  SleepingTeam& operator=(const SleepingTeam&) = delete;

 private:
  std::mutex mutex_;  // guards ended_
  std::condition_variable end_;
  bool ended_ = false;
  std::thread first_;  // first thread of the team
};

}  // namespace distribute::base_internal
