#pragma once
#include <distribute/coordinator/detail/closure_metrics.hpp>
#include <distribute/coordinator/detail/closure_queue.hpp>

#include <algorithm>
#include <utility>

namespace distribute::coordinator_internal {

DISTRIBUTE_INLINE ClosureQueue::ClosureQueue(int64_t capacity) : capacity_(capacity) {
  if (capacity < 1)
    throw InvalidArgumentError(
        str_cat("the closure queue's size must be at least 1, got ", capacity));
}

DISTRIBUTE_INLINE void ClosureQueue::put(ClosurePtr closure) {
  const std::lock_guard no_waiter(put_wait_mutex_);
  Lock lock(mutex_);
  const auto full = [&] { return int64_t(queue_.size()) >= capacity_; };
  do {
    free_slot_.wait(lock, [&] { return stopped_ || error_ || !full(); });
    throw_error(lock);
    if (stopped_) throw CancelledError("schedule: the coordinator has stopped");
  } while (full());
  closure->number = ++last_number_;
  queue_.push_back(std::move(closure));
  closure_metrics().queued.add(1);
  queued_.notify_all();
}

DISTRIBUTE_INLINE void ClosureQueue::put_for(int worker, ClosurePtr closure) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return closure->mark_cancelled();
  by_worker_[worker].push_back(std::move(closure));
  queued_.notify_all();
}

DISTRIBUTE_INLINE bool ClosureQueue::has_work(int worker) const {
  const auto own = by_worker_.find(worker);
  if (own != by_worker_.end() && !own->second.empty()) return true;
  return !cancelling_ && !queue_.empty();
}

DISTRIBUTE_INLINE ClosureQueue::Taken ClosureQueue::get(int worker, net::Deadline deadline) {
  Lock lock(mutex_);
  queued_.wait_until(lock, deadline.when(), [&] { return stopped_ || has_work(worker); });
  if (stopped_ || !has_work(worker)) return {};
  auto& own = by_worker_[worker];
  const bool tagged = !own.empty();
  auto& from = tagged ? own : queue_;
  Taken taken{std::move(from.front()), tagged};
  from.pop_front();
  if (!tagged) {
    ++in_flight_;
    last_begun_ = std::max(last_begun_, taken.closure->number);
    begun_.insert(taken.closure->number);
    closure_metrics().queued.add(-1);
    closure_metrics().running.add(1);
    free_slot_.notify_one();
  }
  return taken;
}

DISTRIBUTE_INLINE void ClosureQueue::one_less() {
  if (in_flight_ < 1) throw InternalError("there is no closure in flight to be given back");
  closure_metrics().running.add(-1);
  if (--in_flight_ == 0) idle_.notify_all();
}

DISTRIBUTE_INLINE void count_closure(const char* result) {
  closure_metrics().closures.get_cell({result}).increment_by();
}

/// Marks a closure as ended; null stands for one that this queue has not numbered.
DISTRIBUTE_INLINE void ClosureQueue::settle(const ClosurePtr& closure) {
  if (closure) begun_.erase(closure->number);
}

DISTRIBUTE_INLINE uint64_t ClosureQueue::settled() const {
  const std::lock_guard lock(mutex_);
  return begun_.empty() ? last_begun_ + 1 : *begun_.begin();
}

DISTRIBUTE_INLINE void ClosureQueue::mark_finished(const ClosurePtr& closure) {
  const std::lock_guard lock(mutex_);
  one_less();
  settle(closure);
  ++completed_;
  count_closure("finished");
}

DISTRIBUTE_INLINE void ClosureQueue::mark_failed(std::exception_ptr error,
                                                 const ClosurePtr& closure) {
  const std::lock_guard lock(mutex_);
  one_less();
  settle(closure);
  ++completed_;
  count_closure("failed");
  if (!error_) error_ = std::move(error);
  idle_.notify_all();
  free_slot_.notify_all();
}

DISTRIBUTE_INLINE void ClosureQueue::put_back(ClosurePtr closure) {
  const std::lock_guard lock(mutex_);
  one_less();
  count_closure("put_back");
  if (broken_ || error_ || cancelling_ || stopped_) settle(closure);
  if (broken_) return closure->output->set_error(error_);
  if (error_ || cancelling_ || stopped_) return closure->mark_cancelled();
  queue_.push_front(std::move(closure));
  closure_metrics().queued.add(1);
  queued_.notify_all();
}

DISTRIBUTE_INLINE void ClosureQueue::put_back_for(int worker, ClosurePtr closure) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return closure->mark_cancelled();
  by_worker_[worker].push_front(std::move(closure));
  queued_.notify_all();
}

DISTRIBUTE_INLINE bool ClosureQueue::wait(net::Deadline deadline) {
  const std::lock_guard no_put(put_wait_mutex_);
  Lock lock(mutex_);
  const auto ended = [&] { return error_ || (queue_.empty() && in_flight_ == 0); };
  waiting_ = true;
  const bool in_time = idle_.wait_until(lock, deadline.when(), ended);
  waiting_ = false;
  throw_error(lock);
  return in_time;
}

DISTRIBUTE_INLINE bool ClosureQueue::done() {
  Lock lock(mutex_);
  throw_error(lock);
  return queue_.empty() && in_flight_ == 0;
}

/// Throws the error; returns when another thread has taken it meanwhile.
DISTRIBUTE_INLINE void ClosureQueue::throw_error(Lock& lock) {
  idle_.wait(lock, [&] { return !cancelling_; });
  if (!error_) return;
  cancel_all(lock);
  const std::exception_ptr error = broken_ ? error_ : std::exchange(error_, nullptr);
  std::rethrow_exception(error);
}

DISTRIBUTE_INLINE void ClosureQueue::cancel_all(Lock& lock) {
  cancelling_ = true;
  const auto callback = on_cancel_;
  lock.unlock();
  if (callback) callback();
  lock.lock();
  idle_.wait(lock, [&] { return in_flight_ == 0; });
  Closures failed = fail_queued(nullptr);
  lock.unlock();
  failed.clear();
  lock.lock();
  cancelling_ = false;
  idle_.notify_all();
  free_slot_.notify_all();
}

/// Cancels queued closures if there is no error. The returned closures must be destroyed without
/// the mutex: objects that they alone hold may be destroyed with them, and those put closures.
DISTRIBUTE_INLINE ClosureQueue::Closures ClosureQueue::fail_queued(
    const std::exception_ptr& error) {
  for (const ClosurePtr& closure : queue_) {
    settle(closure);
    error ? closure->output->set_error(error) : closure->mark_cancelled();
  }
  closure_metrics().queued.add(-int64_t(queue_.size()));
  return std::exchange(queue_, {});
}

DISTRIBUTE_INLINE void ClosureQueue::break_for_good(std::exception_ptr error) {
  Closures failed;
  const std::lock_guard lock(mutex_);
  if (!broken_) error_ = std::move(error);
  broken_ = true;
  failed = fail_queued(error_);
  idle_.notify_all();
  free_slot_.notify_all();
}

DISTRIBUTE_INLINE void ClosureQueue::stop() {
  Closures failed;
  std::map<int, Closures> tagged;
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  failed = fail_queued(nullptr);
  tagged = std::exchange(by_worker_, {});
  for (const auto& [worker, closures] : tagged)
    for (const ClosurePtr& closure : closures) closure->mark_cancelled();
  queued_.notify_all();
  free_slot_.notify_all();
  idle_.notify_all();
}

DISTRIBUTE_INLINE void ClosureQueue::on_cancel(std::function<void()> callback) {
  const std::lock_guard lock(mutex_);
  on_cancel_ = std::move(callback);
}

DISTRIBUTE_INLINE void ClosureQueue::drop_for(int worker) {
  Closures dropped;
  const std::lock_guard lock(mutex_);
  dropped = std::exchange(by_worker_[worker], {});
}

DISTRIBUTE_INLINE bool ClosureQueue::has_waiter() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}
DISTRIBUTE_INLINE bool ClosureQueue::cancelling() const {
  const std::lock_guard lock(mutex_);
  return cancelling_;
}
DISTRIBUTE_INLINE int64_t ClosureQueue::queued() const {
  const std::lock_guard lock(mutex_);
  return int64_t(queue_.size());
}
DISTRIBUTE_INLINE int64_t ClosureQueue::in_flight() const {
  const std::lock_guard lock(mutex_);
  return in_flight_;
}
DISTRIBUTE_INLINE int64_t ClosureQueue::completed() const {
  const std::lock_guard lock(mutex_);
  return completed_;
}

}  // namespace distribute::coordinator_internal
