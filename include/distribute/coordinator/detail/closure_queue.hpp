#pragma once
/// Closures that wait for workers: bounded, in order, and cancelled after an error.

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
  /// Queues a closure for this worker alone, beside all others; neither blocks nor throws.
  void put_for(int worker, ClosurePtr closure);
  /// The next closure, which must be returned by one of the four functions below, unless it is
  /// `tagged`. It is null after stop(), and when `deadline` has passed.
  /// Blocks  until there is one.
  struct Taken {
    ClosurePtr closure;
    bool tagged = false;
  };
  Taken get(int worker, net::Deadline deadline = net::Deadline::never());

  void mark_finished(const ClosurePtr& closure = nullptr);
  /// Marks a closure as failed; its output has the error already.
  void mark_failed(std::exception_ptr error, const ClosurePtr& closure = nullptr);
  /// Takes back a closure that the worker could not finish: to the front of the queue, or cancelled
  /// after an error.
  void put_back(ClosurePtr closure);
  /// Removes the closures that wait for this worker alone.
  void drop_for(int worker);
  /// Takes back a closure of put_for().
  void put_back_for(int worker, ClosurePtr closure);

  /// Waits for all closures; returns false at the deadline.
  /// Blocks  until nothing is queued or in flight; put() waits meanwhile.
  /// Throws  the first error.
  bool wait(net::Deadline deadline = net::Deadline::never());
  /// Whether nothing is queued or in flight. Throws  the first error.
  bool done();

  /// Makes every further put(), wait() and done() throw `error`; queued closures fail with it.
  void break_for_good(std::exception_ptr error);
  /// Ends all waiting: get() returns null, queued closures are cancelled.
  void stop();

  /// Sets a function that is called when closures in flight should end early, on the thread that
  /// throws the error.
  void on_cancel(std::function<void()> callback);
  /// Whether closures in flight should end early.
  bool cancelling() const;
  /// Whether a wait() blocks put().
  bool has_waiter() const;
  /// Returns a number below which all closures have ended, with their updates, and do not run
  /// again.
  uint64_t settled() const;
  int64_t queued() const;
  int64_t in_flight() const;
  /// Returns the number of closures marked finished or failed.
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
  std::set<uint64_t> begun_;  // numbers of those in flight
  std::exception_ptr error_;
  bool broken_ = false;  // error_ stays
  bool waiting_ = false, cancelling_ = false, stopped_ = false;
  std::function<void()> on_cancel_;
};

}  // namespace distribute::coordinator_internal
