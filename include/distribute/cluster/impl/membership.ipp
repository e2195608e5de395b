#pragma once
#include <distribute/base/threads.hpp>
#include <distribute/cluster/detail/membership.hpp>

#include <algorithm>

#include <poll.h>

namespace distribute::cluster_internal {

inline constexpr const char* kHasLeft = " has left the job";

DISTRIBUTE_INLINE Membership::Membership(ClusterTasks tasks, ClusterOptions options)
    : tasks_(std::move(tasks)),
      options_(std::move(options)),
      board_(tasks_.members.size()),
      peers_(options_),
      joined_(tasks_.members.size()),
      has_left_(tasks_.members.size()) {}

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
                           [&] { return failure_ || shutdown_done(); }))
      shutdown_overdue();
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

DISTRIBUTE_INLINE void Membership::throw_if_gone(int rank) const {
  throw_if_failed();
  const std::lock_guard lock(mutex_);
  if (has_left_[size_t(rank)]) throw TaskLeftError(text(rank) + kHasLeft);
}

DISTRIBUTE_INLINE void Membership::throw_if_over() const {
  if (failure_) throw_error(failure_->code, failure_->reason);
  if (leaving_) throw FailedPreconditionError("this task has left the job");
}

DISTRIBUTE_INLINE bool Membership::wait_failure(net::Deadline deadline) {
  std::unique_lock lock(mutex_);
  return changed_.wait_until(lock, deadline.when(), [&] { return failure_.has_value(); });
}

DISTRIBUTE_INLINE std::vector<int> Membership::left() const {
  const std::lock_guard lock(mutex_);
  return left_;
}

DISTRIBUTE_INLINE void Membership::note_left(int rank) {
  if (has_left_[size_t(rank)]) return;
  has_left_[size_t(rank)] = true;
  left_.push_back(rank);
  wake_up_.signal();
}

DISTRIBUTE_INLINE bool Membership::report_waiting(const std::string& what) {
  std::unique_lock lock(mutex_);
  if (left_.empty()) return false;
  if (failure_ || leaving_ || !started_) return true;
  submit({.type = ControlType::Failed,
          .rank = left_.front(),
          .code = int32_t(StatusCode::Unavailable),
          .name = what.substr(0, 16384)});
  wake_up_.signal();
  changed_.wait_for(lock, std::chrono::seconds(2), [&] { return failure_.has_value(); });
  return true;
}

DISTRIBUTE_INLINE void Membership::report_late() {
  const std::lock_guard lock(mutex_);
  if (failure_ || leaving_ || !started_) return;
  submit({.type = ControlType::Late, .rank = tasks_.rank});
  wake_up_.signal();
}

DISTRIBUTE_INLINE int Membership::on_lost(LostCallback callback) {
  const std::lock_guard lock(callbacks_mutex_);
  if (delivered_) {
    const auto failed = failure();
    callback(failed->rank, failed->reason);
  }
  lost_callbacks_.emplace(++last_callback_, std::move(callback));
  return last_callback_;
}

DISTRIBUTE_INLINE int Membership::on_left(LostCallback callback) {
  const std::lock_guard lock(callbacks_mutex_);
  const std::vector<int> ranks = left();
  for (size_t i = 0; i < delivered_left_; ++i) callback(ranks[i], text(ranks[i]) + kHasLeft);
  left_callbacks_.emplace(++last_callback_, std::move(callback));
  return last_callback_;
}

DISTRIBUTE_INLINE void Membership::remove_on_lost(int id) {
  const std::lock_guard lock(callbacks_mutex_);
  lost_callbacks_.erase(id);
  left_callbacks_.erase(id);
}

DISTRIBUTE_INLINE void Membership::deliver_left() {
  const std::vector<int> ranks = left();
  const std::lock_guard lock(callbacks_mutex_);
  while (delivered_left_ < ranks.size()) {
    const int rank = ranks[delivered_left_++];
    const auto callbacks = left_callbacks_;
    for (const auto& [id, callback] : callbacks)
      if (left_callbacks_.contains(id)) callback(rank, text(rank) + kHasLeft);
  }
}

DISTRIBUTE_INLINE void Membership::deliver_failure() {
  const auto failed = failure();
  if (!failed) return;
  const std::lock_guard lock(callbacks_mutex_);
  if (std::exchange(delivered_, true)) return;
  const auto callbacks = lost_callbacks_;
  for (const auto& [id, callback] : callbacks)
    if (lost_callbacks_.contains(id)) callback(failed->rank, failed->reason);
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

DISTRIBUTE_INLINE std::vector<ProgressGroup> Membership::progress_groups() const {
  const std::lock_guard lock(mutex_);
  return is_large() && tasks_.rank != 0 ? groups_ : group_progress(board_.texts());
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
    const bool beat = is_beat_due(now);
    const std::string progress = beat ? ask_progress() : std::string();
    int timeout = 0;
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      exchange(polled, now);
      for (const PeerDeparture& peer : peers_.judge(now)) departed(peer);
      if (beat) heartbeat(progress);
      polled.assign(1, {wake_up_.native(), POLLIN, 0});
      watch(polled);
      timeout = poll_timeout(net::Deadline::Clock::now());
    }
    deliver_left();
    deliver_failure();
    std::this_thread::sleep_for(pace());
    ::poll(polled.data(), polled.size(), timeout);
    wake_up_.clear();
  }
}

/// The leader of many members lets messages come together, as a turn looks at all connections.
DISTRIBUTE_INLINE std::chrono::microseconds Membership::pace() const {
  constexpr int64_t kPerMember = 20, kMost = 20'000;
  const auto members = int64_t(tasks_.members.size());
  return std::chrono::microseconds(
      is_large() && tasks_.rank == 0 ? std::min(kPerMember * members, kMost) : 0);
}

DISTRIBUTE_INLINE bool Membership::is_beat_due(Time now) {
  const std::lock_guard lock(mutex_);
  return peers_.is_beat_due(now);
}

DISTRIBUTE_INLINE int Membership::poll_timeout(Time now) const {
  const auto left = std::min(peers_.next_turn(), next_event()) - now;
  const int64_t ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return int(std::clamp<int64_t>(ms, 0, 60'000));
}

}  // namespace distribute::cluster_internal
