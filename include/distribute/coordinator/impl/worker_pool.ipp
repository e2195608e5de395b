#pragma once
#include <distribute/base/threads.hpp>
#include <distribute/coordinator/detail/worker_pool.hpp>
#include <distribute/coordinator/detail/worker_thread.hpp>

#include <algorithm>
#include <random>
#include <utility>

namespace distribute::coordinator_internal {

DISTRIBUTE_INLINE uint64_t random_session() {
  std::random_device device;
  return (uint64_t(device()) << 32) | device();
}

/// Calls fn for all threads at once: one that waits for a lost worker does not hold up the others.
template <typename Fn>
void for_all_at_once(std::vector<std::unique_ptr<WorkerThread>>& threads, Fn fn) {
  std::vector<std::thread> helpers;
  for (auto& thread : threads) {
    const size_t before = helpers.size();
    base_internal::start_helpers(helpers, 1, "asking a worker", [&fn, &thread] { fn(*thread); });
    if (helpers.size() == before) fn(*thread);
  }
  for (std::thread& helper : helpers) helper.join();
}

DISTRIBUTE_INLINE WorkerPool::WorkerPool(std::vector<std::unique_ptr<WorkerLink>> links,
                                         CoordinatorOptions options, const Registry* functions)
    : options_(std::move(options)),
      functions_(functions ? *functions : registry()),
      session_(random_session()),
      queue_(std::make_shared<ClosureQueue>(options_.queue_size)),
      connected_(links.size(), false) {
  for (auto& link : links)
    threads_.push_back(
        std::make_unique<WorkerThread>(*this, int(threads_.size()), std::move(link)));
  queue_->on_cancel([this] { cancel_in_flight(); });
}

DISTRIBUTE_INLINE WorkerPool::~WorkerPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  queue_->stop();
  for (auto& thread : threads_) thread->close();
  for (auto& thread : threads_) thread->join();
  if (watchdog_.joinable()) watchdog_.join();
}

DISTRIBUTE_INLINE bool WorkerPool::enough() const {
  const int wanted = options_.min_workers > 0 ? options_.min_workers : num_workers();
  return std::count(connected_.begin(), connected_.end(), true) >= wanted;
}

DISTRIBUTE_INLINE bool WorkerPool::all_settled() const {
  return refused_ || enough() || (given_up_ > 0 && options_.min_workers == 0);
}

DISTRIBUTE_INLINE int WorkerPool::num_live_workers() const {
  const std::lock_guard lock(mutex_);
  return int(std::count(connected_.begin(), connected_.end(), true));
}

DISTRIBUTE_INLINE std::string WorkerPool::missing() const {
  std::string names;
  for (size_t i = 0; i < threads_.size(); ++i)
    if (!connected_[i]) names += (names.empty() ? "" : ", ") + threads_[i]->name();
  return names;
}

DISTRIBUTE_INLINE void WorkerPool::start() {
  if (options_.min_workers > num_workers())
    throw InvalidArgumentError(str_cat("CoordinatorOptions: min_workers is ", options_.min_workers,
                                       ", but the cluster names ", num_workers(), " workers"));
  for (auto& thread : threads_) thread->start();
  const auto deadline = net::Deadline::after_seconds(options_.startup_timeout);
  std::unique_lock lock(mutex_);
  const auto settled = [&] { return all_settled(); };
  const auto next_line = [&] {
    const auto line = net::Deadline::after_seconds(options_.report_interval);
    return options_.min_workers > 0 ? line.earlier(deadline) : line;
  };
  while (!changed_.wait_until(lock, next_line().when(), settled)) {
    options_.print("the coordinator waits for " + missing());
    if (options_.min_workers > 0 && deadline.passed()) break;
  }
  if (refused_) std::rethrow_exception(refused_);
  if (!enough())
    throw UnavailableError(str_cat("the coordinator has waited ", options_.startup_timeout,
                                   " s for ", missing(), ": ", given_up_why_));
  watchdog_ = base_internal::start_thread("watching functions that take long", [this] { watch(); });
}

DISTRIBUTE_INLINE void WorkerPool::on_connected(int worker) {
  const std::lock_guard lock(mutex_);
  connected_[size_t(worker)] = true;
  changed_.notify_all();
}

DISTRIBUTE_INLINE void WorkerPool::on_refused(std::exception_ptr error) {
  queue_->break_for_good(error);
  const std::lock_guard lock(mutex_);
  refused_ = std::move(error);
  changed_.notify_all();
}

DISTRIBUTE_INLINE void WorkerPool::on_given_up(const std::string& why) {
  const std::lock_guard lock(mutex_);
  ++given_up_;
  given_up_why_ = why;
  changed_.notify_all();
  if (given_up_ == int(threads_.size()))
    queue_->break_for_good(std::make_exception_ptr(
        UnavailableError("there is no worker left to run functions; the last error was: " + why)));
}

DISTRIBUTE_INLINE void WorkerPool::schedule(ClosurePtr closure) {
  for (const ClosureArgument& argument : closure->arguments)
    if (!argument.bytes && argument.per_worker.size() != threads_.size())
      throw InvalidArgumentError(str_cat("schedule ", closure->label, ": per-worker values of ",
                                         argument.per_worker.size(), " workers, but there are ",
                                         threads_.size()));
  queue_->put(std::move(closure));
}

DISTRIBUTE_INLINE std::shared_ptr<const WorkerResource> WorkerPool::make_resource(
    const std::string& label, Recipe recipe, std::shared_ptr<const WorkerResource> base) {
  auto resource = std::make_shared<WorkerResource>();
  const std::lock_guard lock(mutex_);
  recipe.serial = next_serial_++;
  resource->label = label;
  resource->recipe = to_bytes(recipe);
  resource->base = std::move(base);
  resource->release = [queue = queue_](WorkerResource& gone) { release(*queue, gone); };
  for (size_t i = 0; i < threads_.size(); ++i)
    resource->elements.push_back(std::make_shared<RemoteState>());
  std::erase_if(resources_, [](const auto& one) { return one.expired(); });
  resources_.push_back(resource);
  for (int worker = 0; worker < num_workers(); ++worker)
    if (connected_[size_t(worker)]) queue_->put_for(worker, closure_for(resource, worker));
  return resource;
}

/// Runs when the last handle of the resource is destroyed, possibly with the pool's mutex held.
DISTRIBUTE_INLINE void WorkerPool::release(ClosureQueue& queue, const WorkerResource& gone) {
  for (size_t worker = 0; worker < gone.elements.size(); ++worker) {
    if (gone.elements[worker]->status() != RemoteValueStatus::Ready) continue;
    auto closure = std::make_shared<Closure>();
    closure->method = "release";
    closure->label = gone.label;
    closure->arguments.push_back({.bytes = gone.elements[worker]->bytes()});
    queue.put_for(int(worker), std::move(closure));
  }
}

DISTRIBUTE_INLINE ClosurePtr
WorkerPool::closure_for(const std::shared_ptr<const WorkerResource>& resource, int worker) const {
  auto closure = std::make_shared<Closure>();
  closure->method = "make";
  closure->label = resource->label;
  closure->output = resource->elements.at(size_t(worker));
  // If the resource is released while it is being made, it must not stay on the worker.
  closure->arguments.push_back(
      {.bytes = std::make_shared<const std::string>(resource->recipe), .resource = resource});
  if (resource->base)
    closure->arguments.push_back(
        {.per_worker = resource->base->elements, .resource = resource->base});
  return closure;
}

/// Removes pending requests for resources, too, as rebuild_resources makes all of them anew.
DISTRIBUTE_INLINE void WorkerPool::forget_resources(int worker, const std::exception_ptr& why) {
  const std::lock_guard lock(mutex_);
  connected_[size_t(worker)] = false;
  queue_->drop_for(worker);
  for (const auto& weak : resources_)
    if (const auto resource = weak.lock()) resource->elements[size_t(worker)]->set_error(why);
}

DISTRIBUTE_INLINE void WorkerPool::rebuild_resources(int worker) {
  const std::lock_guard lock(mutex_);
  queue_->drop_for(worker);
  for (const auto& weak : resources_) {
    const auto resource = weak.lock();
    if (!resource) continue;
    resource->elements[size_t(worker)]->reset();
    queue_->put_for(worker, closure_for(resource, worker));
  }
}

DISTRIBUTE_INLINE bool WorkerPool::ignore(const Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  if (outcome.code == StatusCode::DeadlineExceeded) {
    const int few = std::max(0, num_workers() / 10);
    const int limit = options_.ignore_transient_timeouts;
    return ++timeouts_ <= (limit < 0 ? few : limit);
  }
  const int server = outcome.lost_server;
  if (server < 0 || ++ps_failures_[server] >= options_.ignore_transient_ps_failures) return false;
  options_.print("taken for passing trouble: " + outcome.text);
  return true;
}

DISTRIBUTE_INLINE void WorkerPool::cancel_in_flight() {
  for_all_at_once(threads_, [](WorkerThread& thread) { thread.cancel_current(); });
}

DISTRIBUTE_INLINE void WorkerPool::finish() {
  for_all_at_once(threads_, [](WorkerThread& thread) { thread.finish(); });
}

DISTRIBUTE_INLINE std::string WorkerPool::in_flight() const {
  std::string all;
  for (const auto& thread : threads_)
    if (const std::string one = thread->doing(); !one.empty())
      all += (all.empty() ? "" : ", ") + one;
  return all;
}

/// Logs it when functions run, but none ends.
DISTRIBUTE_INLINE void WorkerPool::watch() {
  int64_t seen = queue_->completed();
  std::unique_lock lock(mutex_);
  const auto stopping = [&] { return stopping_; };
  while (!changed_.wait_for(lock, net::seconds(options_.watchdog_timeout), stopping)) {
    const int64_t now = queue_->completed();
    if (now == std::exchange(seen, now) && queue_->in_flight() + queue_->queued() > 0)
      options_.print(str_cat("no function has ended for ", options_.watchdog_timeout, " s; ",
                             queue_->queued(), " are queued; in flight: ", in_flight()));
  }
}

}  // namespace distribute::coordinator_internal
