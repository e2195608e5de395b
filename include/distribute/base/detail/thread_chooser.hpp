#pragma once
/// Finds by trials the number of threads with which a program is fastest beside other programs.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <vector>

namespace distribute::base_internal {

/// Chooses the number of threads of the next step from the times of steps and the load of the
/// cores. Thread-compatible; it reads no clock.
/// 1. On quiet cores the number is the largest.
/// 2. If threads wait for cores it tries the largest, one fewer, half and one, and keeps the
///    smallest that is nearly the fastest.
/// 3. It tries again from time to time, as one thread on its own core does not notice when another
///    program has ended.
class ThreadChooser {
 public:
  explicit ThreadChooser(int most);

  /// Sets another largest number and starts anew.
  void set_most(int most);
  int most() const { return most_; }
  int threads() const { return threads_; }
  /// Whether other programs were noticed, and the largest number has not run undisturbed since.
  bool is_contended() const { return state_ != State::Quiet; }

  /// Reports whether threads had to wait for cores in the time before `now` (seconds). Two reports
  /// in a row count. `may_try` tells whether the number of threads may change.
  void observe(double now, bool crowded, bool may_try = true);
  /// Reports that a step ended at `now`.
  void step(double now);
  /// Reports free cores: it tries again after a quarter of the usual time.
  void hurry(double now);

 private:
  enum class State { Quiet, Trying, Settled };
  struct Trial {
    int threads = 0;
    double steps = 0, seconds = 0;
    double rate() const { return seconds > 0 ? steps / seconds : 0; }
  };

  void begin_trials(double now);
  bool can_try() const { return may_try_ && most_ > 1; }
  void begin_trial(double now);
  /// Whether one number is faster than all others by a fifth, so that no second trial is needed.
  bool is_clear() const;
  void end_trials(double now);

  int most_, threads_;
  State state_ = State::Quiet;
  bool may_try_ = true;
  int crowded_ = 0, free_ = 0;  // observations in a row
  std::vector<Trial> trials_;   // each number once, and twice unless the first round is clear
  size_t trial_ = 0;
  double settled_at_ = 0;  // the first steps of a trial do not count, as they may prepare kernels
  double counted_from_ = -1;
  int steps_ = 0;
  double tried_at_ = 0, next_trials_ = 0, pause_ = 0;
};

}  // namespace distribute::base_internal
