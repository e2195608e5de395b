#pragma once
/// Clusters of threads for tests, and ways for the threads to wait for each other.

#include <distribute/base/config.hpp>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>

namespace distribute::testing {

/// A latch opens when it has been counted down `count` times, and stays open. Thread-safe.
class Latch {
 public:
  explicit Latch(int count) : count_(count) {}

  /// Throws  FailedPreconditionError when it is open already.
  void count_down();
  /// Blocks  until the latch is open.
  /// Throws  DeadlineExceededError that gives the number of missing counts.
  void wait(double seconds = 60);
  void arrive_and_wait(double seconds = 60) { count_down(), wait(seconds); }
  bool is_open();

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  int count_;  // guarded by mutex_
};

/// Calls `predicate` every millisecond until it returns true.
/// Blocks  until the predicate returns true.
/// Throws  DeadlineExceededError that says `what` was waited for.
void wait_until(const std::function<bool()>& predicate, const std::string& what,
                double seconds = 60);

struct ThreadClusterOptions {  // of ThreadCluster
  double deadline_seconds = 60;
  /// This function is called once, on the thread of the first rank that throws. It should abort the
  /// waits of the other ranks.
  std::function<void()> on_failure = {};
};

/// Calls fn(rank) for ranks 0 to `ranks` - 1, each on a thread of its own.
/// Blocks  until all have returned. A thread cannot be ended from outside: when one has not
///         returned by the deadline its rank is printed to stderr and the process is aborted,
///         since going on would leave it with references to objects that are gone.
/// Throws  the first exception: errors of this library with their code and the rank in front of the
///         message, other std::exceptions as UnknownError with the rank, anything else (such as a
///         test framework's) as it is. InvalidArgumentError for less than one rank.
void run_on_threads(int ranks, const std::function<void(int)>& fn,
                    const ThreadClusterOptions& options = {});

}  // namespace distribute::testing
