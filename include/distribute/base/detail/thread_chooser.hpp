#pragma once
/// Finds by trying with how many threads a program is fastest beside other programs.

#include <distribute/base/config.hpp>

#include <cstddef>
#include <vector>

namespace distribute::base_internal {

/// Told of every step and of how crowded the cores are, it says how many threads the next step
/// should compute with. On quiet cores that is the most. Where threads wait for cores it tries the
/// most, one fewer, half and one, keeps the fewest that are nearly the fastest, and tries again
/// from time to time, as one thread on a core of its own no longer sees that a neighbour has left.
/// Thread-compatible; knows no clock.
class ThreadChooser {
 public:
  explicit ThreadChooser(int most);

  /// Another number from now on; starts anew.
  void set_most(int most);
  int most() const { return most_; }
  int threads() const { return threads_; }
  /// From the first sign of neighbours until the most threads run undisturbed.
  bool is_contended() const { return state_ != State::Quiet; }

  /// Whether threads had to wait for cores in the time before `now` (seconds). Two in a row count.
  /// `may_try`: the number of threads may change.
  void observe(double now, bool crowded, bool may_try = true);
  /// A step ended at `now`.
  void step(double now);
  /// There are free cores: tries again after a quarter of the usual time.
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
  /// One number is faster than all others by a fifth: no second trial is needed.
  bool is_clear() const;
  void end_trials(double now);

  int most_, threads_;
  State state_ = State::Quiet;
  bool may_try_ = true;
  int crowded_ = 0, free_ = 0;  // observations in a row
  std::vector<Trial> trials_;   // every number, and again unless the first round is clear
  size_t trial_ = 0;
  double settled_at_ = 0;  // the trial's first steps are not counted: they may prepare kernels
  double counted_from_ = -1;
  int steps_ = 0;
  double tried_at_ = 0, next_trials_ = 0, pause_ = 0;
};

}  // namespace distribute::base_internal
