#pragma once
#include <distribute/base/threads.hpp>
#include <distribute/cluster/detail/membership.hpp>

#include <algorithm>

#include <poll.h>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE Membership::Membership(ClusterTasks tasks, ClusterOptions options)
    : tasks_(std::move(tasks)),
      options_(std::move(options)),
      board_(tasks_.members.size()),
      joined_(tasks_.members.size()) {}

DISTRIBUTE_INLINE std::string Membership::text(int rank) const {
  ClusterMember member = tasks_.members[size_t(rank)];
  if (member.address.empty()) member.address = joined_[size_t(rank)].address;
  return member.text();
}

DISTRIBUTE_INLINE std::string Membership::request(ControlMessage message, net::Deadline deadline,
                                                  const std::string& what) {
  if (message.name.size() + message.value.size() > size_t(options_.max_message_bytes))
    throw InvalidArgumentError(str_cat(what, ": ", message.value.size(),
                                       " bytes; DISTRIBUTE_MAX_MESSAGE_BYTES allows ",
                                       options_.max_message_bytes));
  std::unique_lock lock(mutex_);
  throw_if_over();
  message.request = requests_.open();
  message.times[0] = deadline.left().count();
  submit(message);
  wake_up_.signal();
  // The leader knows who is missing, so its answer to a late request is awaited.
  const net::Deadline with_grace = net::Deadline::after(deadline.left() + std::chrono::seconds(1));
  return requests_.wait(lock, message.request, with_grace, what, [this] { throw_if_over(); });
}

DISTRIBUTE_INLINE void Membership::report_error(StatusCode code, const std::string& message) {
  std::unique_lock lock(mutex_);
  if (failure_ || leaving_ || !started_) return;
  submit({.type = ControlType::Error,
          .rank = tasks_.rank,
          .code = int32_t(code),
          .name = message.substr(0, 16384)});
  wake_up_.signal();
  changed_.wait_for(lock, std::chrono::seconds(2), [&] { return failure_.has_value(); });
}

DISTRIBUTE_INLINE void Membership::leave() {
  std::unique_lock lock(mutex_);
  if (!started_ || leaving_) return;
  leaving_ = true;
  requests_.wake();
  if (!failure_) {
    submit({.type = ControlType::Leave, .rank = tasks_.rank});
    wake_up_.signal();
    if (!changed_.wait_for(lock, net::seconds(options_.shutdown_timeout),
                           [&] { return failure_ || farewell_done(); }))
      farewell_late();
  }
  lock.unlock();
  stop_thread();
}

DISTRIBUTE_INLINE std::optional<TaskFailure> Membership::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

DISTRIBUTE_INLINE void Membership::throw_if_failed() const {
  const auto failed = failure();
  if (failed) throw_error(failed->code, failed->reason);
}

DISTRIBUTE_INLINE void Membership::throw_if_over() const {
  if (failure_) throw_error(failure_->code, failure_->reason);
  if (leaving_) throw FailedPreconditionError("this task has left the job");
}

DISTRIBUTE_INLINE bool Membership::wait_failure(net::Deadline deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline.when(), [&] { return failure_.has_value(); });
}

DISTRIBUTE_INLINE int Membership::on_lost(LostCallback callback) {
  const std::lock_guard lock(callbacks_mutex_);
  if (delivered_) {
    const auto failed = failure();
    callback(failed->rank, failed->reason);
  }
  callbacks_.emplace(++last_callback_, std::move(callback));
  return last_callback_;
}

DISTRIBUTE_INLINE void Membership::remove_on_lost(int id) {
  const std::lock_guard lock(callbacks_mutex_);
  callbacks_.erase(id);
}

DISTRIBUTE_INLINE void Membership::deliver_failure() {
  const auto failed = failure();
  if (!failed) return;
  const std::lock_guard lock(callbacks_mutex_);
  if (std::exchange(delivered_, true)) return;
  const auto callbacks = callbacks_;
  for (const auto& [id, callback] : callbacks)
    if (callbacks_.count(id) != 0) callback(failed->rank, failed->reason);
}

DISTRIBUTE_INLINE void Membership::set_progress(std::function<std::string()> progress) {
  const std::lock_guard lock(progress_mutex_);
  progress_ = std::move(progress);
}

DISTRIBUTE_INLINE std::string Membership::ask_progress() {
  const std::lock_guard lock(progress_mutex_);
  return progress_ ? progress_() : std::string();
}

DISTRIBUTE_INLINE std::vector<std::string> Membership::progress() const {
  const std::lock_guard lock(mutex_);
  return board_.texts();
}

DISTRIBUTE_INLINE int64_t Membership::clock_offset_ns() const {
  const std::lock_guard lock(mutex_);
  return clock_.offset();
}

DISTRIBUTE_INLINE void Membership::fail(TaskFailure failure) {
  if (failure_) return;
  failure_ = std::move(failure);
  announce(*failure_);
  requests_.wake();
  changed_.notify_all();
  wake_up_.signal();
}

DISTRIBUTE_INLINE void Membership::fail_lost(int rank, const std::string& why) {
  fail({rank, StatusCode::Unavailable, str_cat(text(rank), " is lost: ", why)});
}

DISTRIBUTE_INLINE void Membership::start_thread() {
  last_turn_ = net::Deadline::Clock::now();
  thread_ = base_internal::start_thread("the job's members", [this] { run(); });
}

DISTRIBUTE_INLINE void Membership::stop_thread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_up_.signal();
  if (thread_.joinable()) thread_.join();
}

DISTRIBUTE_INLINE void Membership::run() {
  std::vector<pollfd> polled;
  for (;;) {
    const Time now = net::Deadline::Clock::now();
    const bool beat = now >= next_heartbeat_;
    const std::string progress = beat ? ask_progress() : std::string();
    int timeout = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      if (now - last_turn_ > net::seconds(3 * options_.heartbeat_interval)) forgive(now);
      last_turn_ = now;
      exchange(polled, now);
      if (beat) heartbeat(progress);
      if (beat) next_heartbeat_ = now + net::seconds(options_.heartbeat_interval);
      polled.assign(1, {wake_up_.native(), POLLIN, 0});
      watch(polled);
      timeout = poll_timeout(net::Deadline::Clock::now());
    }
    deliver_failure();
    ::poll(polled.data(), polled.size(), timeout);
    wake_up_.clear();
  }
}

DISTRIBUTE_INLINE int Membership::poll_timeout(Time now) const {
  const auto left = std::min(next_heartbeat_, next_event()) - now;
  const int64_t ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return int(std::clamp<int64_t>(ms, 0, 60'000));
}

}  // namespace distribute::cluster_internal
