#pragma once
/// The work that waits for workers: bounded, in order, and what happens to all of it after an
/// error.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/per_worker_values.hpp>
#include <distribute/net/deadline.hpp>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>

namespace distribute::coordinator_internal {

inline constexpr int64_t kClosureQueueSize = 256 * 1024;

/// For waits that end with the job, whose parts all have limits of their own.
inline net::Deadline no_deadline() { return net::Deadline::after_seconds(1e9); }

/// Hands the closures of a coordinator to its workers. Thread-safe.
/// 1. Closures are given out in the order in which they came. Closures for one worker alone go
///    first, and no limit counts them.
/// 2. A closure that is given out is in flight until the worker marks it or puts it back.
/// 3. The first error of any closure is kept until put(), wait() or done() throws it. Before they
///    throw, closures in flight are cancelled and have ended, and queued ones are cancelled.
/// 4. Closures with numbers below settled() have ended and do not run again.
/// Source  _CoordinatedClosureQueue of tensorflow/python/distribute/coordinator
class ClosureQueue {
 public:
  /// Throws  InvalidArgumentError for a capacity below 1.
  explicit ClosureQueue(int64_t capacity = kClosureQueueSize);

  /// Blocks  while the queue is full.
  /// Throws  the first error; CancelledError after stop().
  void put(ClosurePtr closure);
  /// For this worker alone, whatever else there is; neither blocks nor throws.
  void put_for(int worker, ClosurePtr closure);
  /// The next closure, which must be given back by one of the four below, unless it is `tagged`.
  /// Null after stop(), and when `deadline` has passed.
  /// Blocks  until there is one.
  struct Taken {
    ClosurePtr closure;
    bool tagged = false;
  };
  Taken get(int worker, net::Deadline deadline = no_deadline());

  void mark_finished(const ClosurePtr& closure = nullptr);
  /// Its output has the error already.
  void mark_failed(std::exception_ptr error, const ClosurePtr& closure = nullptr);
  /// The worker could not finish it: to the front of the queue, or cancelled after an error.
  void put_back(ClosurePtr closure);
  /// Forgets what waits for this worker alone.
  void drop_for(int worker);
  /// put_back() for a closure that put_for() gave.
  void put_back_for(int worker, ClosurePtr closure);

  /// Blocks  until nothing is queued or in flight; no put() gets in meanwhile. False at the
  ///         deadline.
  /// Throws  the first error.
  bool wait(net::Deadline deadline = no_deadline());
  /// Whether nothing is queued or in flight. Throws  the first error.
  bool done();

  /// From now on every put(), wait() and done() throws `error`, and what is queued fails with it.
  void break_for_good(std::exception_ptr error);
  /// Ends all waiting: get() gives null, what is queued is cancelled.
  void stop();

  /// Called when closures in flight should end early, on the thread that throws the error.
  void on_cancel(std::function<void()> callback);
  /// Whether closures in flight should end early.
  bool cancelling() const;
  /// Whether a wait() keeps put() out.
  bool has_waiter() const;
  /// All closures whose numbers are below it have ended, with their updates, and do not run again.
  uint64_t settled() const;
  int64_t queued() const;
  int64_t in_flight() const;
  /// How many have been marked finished or failed.
  int64_t completed() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using Closures = std::deque<ClosurePtr>;
  bool has_work(int worker) const;
  void throw_error(Lock& lock);
  void cancel_all(Lock& lock);
  [[nodiscard]] Closures fail_queued(const std::exception_ptr& error);
  void one_less();
  void settle(const ClosurePtr& closure);

  const int64_t capacity_;
  std::mutex put_wait_mutex_;  // held by wait() and put(): no put() during a wait()
  mutable std::mutex mutex_;   // guards the rest
  std::condition_variable queued_, free_slot_, idle_;
  Closures queue_;
  std::map<int, Closures> by_worker_;
  int64_t in_flight_ = 0, completed_ = 0;
  uint64_t last_number_ = 0;
  uint64_t last_begun_ = 0;
  std::set<uint64_t> begun_;  // numbers of those that have been given out and have not ended
  std::exception_ptr error_;
  bool broken_ = false;  // error_ stays
  bool waiting_ = false, cancelling_ = false, stopped_ = false;
  std::function<void()> on_cancel_;
};

}  // namespace distribute::coordinator_internal
