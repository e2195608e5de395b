#pragma once
/// A latch with a deadline, for threads of a test that wait for each other.

#include <distribute/base/config.hpp>

#include <condition_variable>
#include <mutex>

namespace distribute::testing {

/// Opens when it has been counted down `count` times, and stays open. Thread-safe.
class Latch {
 public:
  explicit Latch(int count) : count_(count) {}

  /// Throws  FailedPreconditionError when it is open already.
  void count_down();
  /// Blocks  until the latch is open.
  /// Throws  DeadlineExceededError that says how many are missing.
  void wait(double seconds = 60);
  void arrive_and_wait(double seconds = 60) { count_down(), wait(seconds); }
  bool is_open();

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  int count_;  // guarded by mutex_
};

}  // namespace distribute::testing
