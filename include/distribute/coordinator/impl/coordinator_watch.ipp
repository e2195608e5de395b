#pragma once
#include <distribute/base/threads.hpp>
#include <distribute/coordinator/detail/coordinator_watch.hpp>
#include <distribute/rpc/detail/peer.hpp>

#include <utility>

namespace distribute::coordinator_internal {

DISTRIBUTE_INLINE CoordinatorWatch::CoordinatorWatch(WorkerService& service, Options options)
    : service_(service),
      options_(std::move(options)),
      deadline_(net::Deadline::after_seconds(options_.first_patience)),
      thread_(base_internal::start_thread("watching the coordinator", [this] { watch(); })) {}

DISTRIBUTE_INLINE CoordinatorWatch::~CoordinatorWatch() {
  leave_peer();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

/// It must be called without the mutex, as the callback that may be running locks it.
DISTRIBUTE_INLINE void CoordinatorWatch::leave_peer() {
  std::shared_ptr<rpc::Peer> gone;
  int callback = 0;
  {
    const std::lock_guard lock(mutex_);
    gone = std::exchange(coordinator_, nullptr);
    callback = callback_;
  }
  if (gone) gone->remove_on_lost(callback);
}

DISTRIBUTE_INLINE void CoordinatorWatch::greeted(const std::shared_ptr<rpc::Peer>& coordinator) {
  leave_peer();
  {
    const std::lock_guard lock(mutex_);
    coordinator_ = coordinator;
    waiting_ = lost_server() != nullptr;  // nothing that it sends could run
    changed_.notify_all();
    missing_ = coordinator->text() + " was lost and has not returned";
  }
  const uint64_t incarnation = coordinator->incarnation();
  const int callback = coordinator->on_lost([this, incarnation] { lost(incarnation); });
  const std::lock_guard lock(mutex_);
  callback_ = callback;
}

DISTRIBUTE_INLINE void CoordinatorWatch::lost(uint64_t incarnation) {
  const std::lock_guard lock(mutex_);
  if (!coordinator_ || coordinator_->incarnation() != incarnation) return;
  if (service_.stopped()) return;  // it has ended in order
  waiting_ = true;
  deadline_ = net::Deadline::after_seconds(options_.return_patience);
  service_.cancel_running();
  if (options_.log)
    options_.log(str_cat(coordinator_->text(), " is lost; waiting ", options_.return_patience,
                         " s for its return"));
  changed_.notify_all();
}

DISTRIBUTE_INLINE std::exception_ptr CoordinatorWatch::lost_server() const {
  for (const auto& server : options_.servers) {
    try {
      server->throw_if_lost();
    } catch (const Error& error) {
      return std::make_exception_ptr(UnavailableError(
          str_cat(error.what(), ", and the coordinator has gone: this worker must start again")));
    }
  }
  return nullptr;
}

/// A parameter server may be found lost a little later than the coordinator that failed for it:
/// looks several times a second while it waits.
DISTRIBUTE_INLINE void CoordinatorWatch::watch() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (options_.leaves && options_.leaves(!waiting_)) return service_.stop();
    if (!waiting_) {
      changed_.wait_for(lock, std::chrono::milliseconds(200));
      continue;
    }
    std::exception_ptr error = lost_server();
    if (!error && deadline_.passed())
      error = std::make_exception_ptr(UnavailableError(missing_ + " in time"));
    if (error) return service_.stop(error);
    changed_.wait_until(lock, deadline_.earlier(net::Deadline::after_seconds(0.2)).when());
  }
}

}  // namespace distribute::coordinator_internal
