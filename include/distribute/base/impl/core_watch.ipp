#pragma once
#include <distribute/base/detail/core_watch.hpp>
#include <distribute/base/detail/run_queue.hpp>
#include <distribute/base/detail/seconds.hpp>
#include <distribute/base/detail/sleeping_team.hpp>
#include <distribute/base/detail/thread_chooser.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/parallel.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <strings.h>
#include <unistd.h>

namespace distribute::base_internal {

/// Returns the time in which the host's cores were idle, summed over them.
/// Units   seconds.
DISTRIBUTE_INLINE double idle_seconds() {
  std::ifstream file("/proc/stat");
  std::string word;
  double user = 0, nice = 0, system = 0, idle = 0;
  file >> word >> user >> nice >> system >> idle;
  return idle / double(::sysconf(_SC_CLK_TCK));
}

/// Changes since the last check.
class CoreLook {
 public:
  /// Threads waited for more than this part of one core's time, or the quota stopped them.
  static constexpr double kWaited = 0.1;

  /// Takes a measurement; `for_idle` requests idle_cores(), which takes milliseconds on large
  /// machines.
  void take(double now, bool for_idle) {
    const double waited = run_queue_times().waited, idle = for_idle ? idle_seconds() : 0;
    const double seconds = std::max(now - at_, 1e-3);
    crowded_ = at_ > 0 && waited - waited_ > kWaited * seconds;
    idle_cores_ = at_ > 0 && idle_ > 0 && for_idle ? (idle - idle_) / seconds : 0;
    at_ = now;
    waited_ = waited;
    idle_ = idle;
    if (core_limits().quota) look_at_quota();
  }
  bool crowded() const { return crowded_; }
  double idle_cores() const { return idle_cores_; }

 private:
  void look_at_quota() {
    const auto throttling = groups_.throttling();
    if (!throttling) return;
    const bool stopped = throttled_ >= 0 && throttling->throttled > throttled_;
    throttled_ = throttling->throttled;
    crowded_ = crowded_ || stopped;
  }

  const ControlGroups groups_;
  double at_ = 0, waited_ = 0, idle_ = 0, idle_cores_ = 0;
  int64_t throttled_ = -1;
  bool crowded_ = false;
};

class CoreWatch {
 public:
  void step() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    const double now = base_internal::steady_seconds();
    if (!is_followed(now)) return;
    const int before = chooser_.threads();
    if (const int here = omp_get_max_threads(); here != before) chooser_.set_most(here);
    if (now >= next_look_) look(now);
    if (choosing_) chooser_.step(now);
    if (chooser_.threads() != before) set_intra_op_threads(chooser_.threads());
    if (chooser_.is_contended() != contended_) change();
  }
  int advised(int most) {
    const std::lock_guard lock(mutex_);
    return most == chooser_.most() ? chooser_.threads() : most;
  }
  void keep() {
    const std::lock_guard lock(mutex_);
    choosing_ = false;
  }

 private:
  static bool may_choose() {
    return core_limits().environment == 0 &&
           ::strcasecmp(Environment().text("OMP_DYNAMIC").c_str(), "false") != 0;
  }
  /// Whether this thread's steps are used as the program's speed; when it has ended another
  /// thread's are.
  bool is_followed(double now) {
    if (thread_ != std::this_thread::get_id() && now - stepped_ < 5) return false;
    thread_ = std::this_thread::get_id();
    stepped_ = now;
    return true;
  }
  void look(double now) {
    // Reading about many threads takes longer, and is done less often.
    next_look_ = now + 0.1 * std::max(1, chooser_.most() / 16);
    const int fewer = chooser_.most() - chooser_.threads();
    const bool all_cores = core_limits().usable() >= core_limits().online;
    look_.take(now, fewer > 0 && all_cores);
    chooser_.observe(now, look_.crowded(), choosing_);
    if (fewer > 0 && look_.idle_cores() > 0.8 * fewer) chooser_.hurry(now);
  }
  void change() {
    contended_ = chooser_.is_contended();
    spin_state().contended = contended_;
    if (!contended_)
      team_.reset();
    else if (chooser_.most() > 1 && SleepingTeam::is_useful(chooser_.most()))
      team_ = std::make_unique<SleepingTeam>(chooser_.most());
  }

  std::mutex mutex_;  // guards all
  bool choosing_ = may_choose();
  ThreadChooser chooser_{omp_get_max_threads()};
  CoreLook look_;
  std::thread::id thread_;
  double stepped_ = 0, next_look_ = 0;
  bool contended_ = false;
  std::unique_ptr<SleepingTeam> team_;
};

DISTRIBUTE_INLINE void watch_cores() noexcept {
  try {
    in_process<CoreWatch>().step();
  } catch (const std::exception&) {  // no thread for the team, or no memory: nothing adapts
  }
}

DISTRIBUTE_INLINE int advised_threads(int most) { return in_process<CoreWatch>().advised(most); }

DISTRIBUTE_INLINE void keep_number_of_threads() { in_process<CoreWatch>().keep(); }

}  // namespace distribute::base_internal
