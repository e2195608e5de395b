#pragma once
#include <distribute/base/threads.hpp>
#include <distribute/coordinator/detail/worker_pool.hpp>
#include <distribute/coordinator/detail/worker_thread.hpp>

#include <algorithm>
#include <utility>

namespace distribute::coordinator_internal {

DISTRIBUTE_INLINE WorkerThread::WorkerThread(WorkerPool& pool, int worker,
                                             std::unique_ptr<WorkerLink> link)
    : pool_(pool), worker_(worker), link_(std::move(link)) {}

DISTRIBUTE_INLINE void WorkerThread::start() {
  thread_ = base_internal::start_thread("the calls to " + name(), [this] { run(); });
}

DISTRIBUTE_INLINE void WorkerThread::join() {
  if (thread_.joinable()) thread_.join();
}

DISTRIBUTE_INLINE bool WorkerThread::stopping() const {
  const std::lock_guard lock(pool_.mutex_);
  return pool_.stopping_;
}

DISTRIBUTE_INLINE void WorkerThread::run() {
  const bool may_come_late = pool_.options_.min_workers > 0;
  if (!connect(may_come_late ? pool_.options_.worker_recovery_timeout
                             : pool_.options_.startup_timeout))
    return;
  if (may_come_late) pool_.rebuild_resources(worker_);  // made before it came
  delay_start();
  while (true) {
    const ClosureQueue::Taken taken = pool_.queue_->get(worker_);
    if (!taken.closure || !process(taken)) return;
  }
}

/// Delays the start, so that not all workers ask for their first variables and data at the same
/// moment.
DISTRIBUTE_INLINE void WorkerThread::delay_start() const {
  const CoordinatorOptions& options = pool_.options_;
  double delay = worker_ * options.schedule_start_delay;
  if (options.schedule_start_delay_max > 0)
    delay = std::min(delay, options.schedule_start_delay_max);
  std::unique_lock lock(pool_.mutex_);
  pool_.changed_.wait_for(lock, net::seconds(delay), [&] { return pool_.stopping_; });
}

/// Returns false when this thread has no more work.
DISTRIBUTE_INLINE bool WorkerThread::connect(double patience) {
  const auto deadline = net::Deadline::after_seconds(patience);
  std::string why;
  while (!stopping()) {
    try {
      link_->connect(deadline.earlier(net::Deadline::after_seconds(2)));
      return greet_once();
    } catch (const Error& error) {  // it may come yet, but not change its token
      why = error.what();
      if (generation_ == 0 && error.code() == StatusCode::Unauthenticated)
        return pool_.on_refused(std::current_exception()), false;
    }
    if (deadline.passed()) return pool_.on_given_up(why), false;
    std::unique_lock lock(pool_.mutex_);
    pool_.changed_.wait_for(lock, net::seconds(0.05), [&] { return pool_.stopping_; });
  }
  return false;
}

/// Returns false when the worker belongs to another program. Throws  what the link throws.
DISTRIBUTE_INLINE bool WorkerThread::greet_once() {
  const Greeting greeting{.session = pool_.session_,
                          .generation = ++generation_,
                          .worker = worker_,
                          .num_workers = int32_t(pool_.connected_.size()),
                          .registrations = pool_.functions_.list()};
  try {
    link_->call("hello", to_bytes(greeting));
  } catch (const InvalidArgumentError&) {
    return pool_.on_refused(std::current_exception()), false;
  }
  pool_.on_connected(worker_);
  return true;
}

DISTRIBUTE_INLINE bool WorkerThread::process(const ClosureQueue::Taken& taken) {
  {
    const std::lock_guard lock(mutex_);
    label_ = taken.closure->label;
    since_ = std::chrono::steady_clock::now();
  }
  ++last_id_;
  std::optional<Outcome> outcome;
  std::string lost;
  try {
    // The cancelling thread reads last_id_ after setting its flag: one of the two sees the other.
    if (!taken.tagged && pool_.queue_->cancelling())
      outcome = Outcome{OutcomeKind::Cancelled, StatusCode::Cancelled, {}};
    else
      outcome = run_remotely(*taken.closure);
  } catch (const ClosureInputError&) {
    fail(taken, std::current_exception());
  } catch (const ResourceExhaustedError&) {  // arguments or result too large for a message
    fail(taken, std::current_exception());
  } catch (const Error& error) {
    lost = error.what();
  }
  done_id_ = last_id_.load();
  if (outcome) settle(taken, *outcome);
  if (lost.empty()) return true;
  give_back(taken);
  return recover(lost);
}

DISTRIBUTE_INLINE Outcome WorkerThread::run_remotely(const Closure& closure) {
  const std::string body = closure.body_for(worker_, last_id_.load(), pool_.queue_->settled());
  return Outcome::decode(link_->call(closure.method, body));
}

DISTRIBUTE_INLINE void WorkerThread::settle(const ClosureQueue::Taken& taken,
                                            const Outcome& outcome) {
  switch (outcome.kind) {
    case OutcomeKind::Finished:
      taken.closure->output->set_bytes(outcome.text);
      if (!taken.tagged) pool_.queue_->mark_finished(taken.closure);
      return;
    case OutcomeKind::Cancelled: return cancelled(taken);
    case OutcomeKind::ResourceLost:
      give_back(taken);
      pool_.rebuild_resources(worker_);
      return;
    case OutcomeKind::Failed:
      if (pool_.ignore(outcome)) return give_back(taken);
      return fail(taken, outcome.error(link_->name() + ": " + taken.closure->label));
  }
}

DISTRIBUTE_INLINE void WorkerThread::fail(const ClosureQueue::Taken& taken,
                                          const std::exception_ptr& error) {
  taken.closure->output->set_error(error);
  if (!taken.tagged) pool_.queue_->mark_failed(error, taken.closure);
}

DISTRIBUTE_INLINE void WorkerThread::give_back(const ClosureQueue::Taken& taken) {
  if (taken.tagged)
    pool_.queue_->put_back_for(worker_, taken.closure);
  else
    pool_.queue_->put_back(taken.closure);
}

DISTRIBUTE_INLINE void WorkerThread::cancelled(const ClosureQueue::Taken& taken) {
  taken.closure->mark_cancelled();
  if (!taken.tagged) pool_.queue_->mark_finished(taken.closure);
}

/// Waits for the worker while the others continue. Returns false when it does not come back.
DISTRIBUTE_INLINE bool WorkerThread::recover(const std::string& why) {
  if (stopping()) return false;
  pool_.options_.print(link_->name() +
                       " is lost, its functions run elsewhere until it is back: " + why);
  pool_.forget_resources(worker_, std::make_exception_ptr(AbortedError(
                                      link_->name() + " is lost, and what lived on it: " + why)));
  if (!connect(pool_.options_.worker_recovery_timeout)) return false;
  pool_.options_.print(link_->name() + " is back");
  pool_.rebuild_resources(worker_);
  return true;
}

DISTRIBUTE_INLINE void WorkerThread::cancel_current() {
  if (!busy()) return;
  try {
    link_->control("cancel", to_bytes(last_id_.load()), net::Deadline::after_seconds(10));
  } catch (const Error&) {  // lost, as the thread will see: then nothing runs there
  }
}

DISTRIBUTE_INLINE void WorkerThread::finish() {
  try {
    link_->control("finish", {}, net::Deadline::after_seconds(5));
  } catch (const Error&) {  // gone already, or lost: it will notice that the coordinator is gone
  }
}

DISTRIBUTE_INLINE std::string WorkerThread::doing() const {
  if (!busy()) return {};
  const std::lock_guard lock(mutex_);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - since_;
  return str_cat(link_->name(), ": ", label_, " for ", int64_t(time.count()), " s");
}

}  // namespace distribute::coordinator_internal
