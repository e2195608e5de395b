#pragma once
#include <distribute/collective/detail/host_meeting.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace distribute::collective {

DISTRIBUTE_INLINE HostMeeting::HostMeeting(std::shared_ptr<Window> window, const HostLayout& layout,
                                           int rank, int64_t area_offset,
                                           const Departures& departures, Listen listen)
    : window_(std::move(window)),
      first_(layout.members(layout.host_of(rank))[0]),
      me_(layout.local_index(rank)),
      area_offset_(area_offset),
      departures_(departures),
      listen_(std::move(listen)),
      patience_({window_->ranks()}) {}

DISTRIBUTE_INLINE std::byte* HostMeeting::area(const Operation& operation) {
  wait_for_step(operation, step_);
  return window_->arena(0).data() + area_offset_ + step_ % 2 * kAreaBytes;
}

DISTRIBUTE_INLINE void HostMeeting::come(const Operation& operation) {
  wait_for_step(operation, step_);
  window_->place(me_).signatures[step_ % 2] = signature_of(operation);
  window_->place(me_).arrived.advance();
  ++step_;
}

DISTRIBUTE_INLINE void HostMeeting::wait_for_all(const Operation& operation) {
  wait_for_step(operation, step_);
  for (int member = 0; member < members(); ++member)
    check_same(signature_of(operation), rank_of(me_),
               window_->place(member).signatures[(step_ - 1) % 2], rank_of(member));
}

DISTRIBUTE_INLINE void HostMeeting::release() { releases().advance(); }

DISTRIBUTE_INLINE void HostMeeting::wait_for_release(const Operation& operation,
                                                     net::Deadline deadline) {
  wait(releases(), ++released_, 0, operation, deadline);
}

/// Waits until all ranks have entered `step` operations.
DISTRIBUTE_INLINE void HostMeeting::wait_for_step(const Operation& operation, uint32_t step) {
  for (int i = 1; i < members(); ++i) {
    const int member = (me_ + i) % members();
    wait(window_->place(member).arrived, step, member, operation, operation.deadline);
  }
}

DISTRIBUTE_INLINE void HostMeeting::wait(SharedCounter& counter, uint32_t value, int member,
                                         const Operation& operation, net::Deadline deadline) {
  for (int round = 0;; ++round) {
    const bool left = departures_.any() && departures_.has(rank_of(member));  // before it is read
    const uint32_t seen = counter.value.load(std::memory_order_acquire);
    if (int32_t(seen - value) >= 0) return;
    if (left) departures_.throw_if_left(rank_of(member), rank_of(me_), operation);
    if (round > patience_.yields()) {  // whatever else happened can wait that long
      for (int other = 0; other < members(); ++other) throw_failure(other);
      listen_();
      if (deadline.passed()) throw_late(member, operation);
    }
    wait_while(counter, seen, round, patience_);
  }
}

/// Stores the code in the first byte of the text, and the message behind it.
DISTRIBUTE_INLINE void HostMeeting::fail(StatusCode code, const std::string& message) {
  Window::Place& place = window_->place(me_);
  if (place.failed.load(std::memory_order_relaxed)) return;
  place.failure[0] = char(code);
  std::memcpy(place.failure + 1, message.data(),
              std::min(message.size(), sizeof place.failure - 2));
  place.failed.store(1, std::memory_order_release);
}

DISTRIBUTE_INLINE void HostMeeting::throw_failure(int member) const {
  const Window::Place& place = window_->place(member);
  if (member == me_ || !place.failed.load(std::memory_order_acquire)) return;
  throw_error(StatusCode(place.failure[0]), place.failure + 1);
}

DISTRIBUTE_INLINE void HostMeeting::throw_late(int member, const Operation& operation) const {
  std::string late = window_->name(member, rank_of(member));
  for (int other = 0; other < members(); ++other)
    if (other != member && other != me_ &&
        int32_t(window_->place(other).arrived.value.load() - step_) < 0)
      late += ", " + window_->name(other, rank_of(other));
  throw DeadlineExceededError(str_cat(to_string(signature_of(operation)),
                                      ": the time is over; rank ", rank_of(me_),
                                      " has heard nothing from ", late));
}

}  // namespace distribute::collective
