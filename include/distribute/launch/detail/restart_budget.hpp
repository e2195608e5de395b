#pragma once
/// Number of restarts allowed, and the pauses before them.

#include <distribute/base/config.hpp>

#include <chrono>
#include <deque>

namespace distribute::launch_internal {

/// The pauses before restarts of one task, or of the whole job: none before the first, then 1 s, 2
/// s, 4 s and so on up to a minute, each shortened at random by up to a half, so that jobs that
/// failed together do not restart together. After a run of ten minutes they begin anew, as in
/// Kubernetes. Thread-compatible.
/// Source  Kubernetes, container restart policy (back-off)
class RestartPause {
 public:
  /// Returns the seconds to wait before the next restart of a task that has run for `ran_seconds`.
  double next(double ran_seconds);

 private:
  int in_a_row_ = 0;
};

/// Allows `most` restarts in any `window_seconds`, or altogether if that is 0. Thread-compatible.
class RestartBudget {
 public:
  using Clock = std::chrono::steady_clock;

  RestartBudget(int most, double window_seconds) : most_(most), window_(window_seconds) {}
  /// Whether another restart is allowed now.
  bool allows(Clock::time_point now = Clock::now());
  /// Counts a restart. Returns how many there were within the time window, with this one.
  int take(Clock::time_point now = Clock::now());
  /// Returns the number of all restarts so far.
  int total() const { return total_; }

 private:
  void forget_before(Clock::time_point now);

  const int most_;
  const std::chrono::duration<double> window_;
  int total_ = 0;
  std::deque<Clock::time_point> counted_;
};

}  // namespace distribute::launch_internal
