#pragma once
/// Meetings of the ranks of a host in its shared memory, while their first rank communicates with
/// other hosts.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/collective/detail/departures.hpp>
#include <distribute/collective/detail/host_layout.hpp>
#include <distribute/collective/detail/window.hpp>
#include <distribute/collective/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace distribute::collective {

/// Every collective begins here: a rank that waits sees which operation the others run. Used by one
/// thread.
/// 1. There are two areas of memory, used in turn.
/// 2. A rank enters an operation only when all have entered the one before it, and so have left the
///    area of the one before that.
class HostMeeting {
 public:
  static constexpr int64_t kAreaBytes = 1 << 20;
  /// Called while waiting; it throws errors that arrive elsewhere.
  using Listen = std::function<void()>;

  /// `area_offset` is the position of both areas in the arena of the host's first rank.
  /// `departures` are borrowed.
  HostMeeting(std::shared_ptr<Window> window, const HostLayout& layout, int rank,
              int64_t area_offset, const Departures& departures, Listen listen);

  /// Returns the area of the next operation. Blocks  until it is free.
  std::byte* area(const Operation& operation);
  /// Announces that this rank has come and has written its part of the area.
  void come(const Operation& operation);
  /// Waits for the other ranks of the host.
  /// Blocks  until all have come.
  /// Throws  FailedPreconditionError when they run other operations; DeadlineExceededError with the
  ///          missing ranks; the error of a rank that failed.
  void wait_for_all(const Operation& operation);
  /// Lets the other ranks continue; the first rank calls it once for each of their waits.
  void release();
  void wait_for_release(const Operation& operation, net::Deadline deadline);
  /// Ends running and later waits of the others.
  void fail(StatusCode code, const std::string& message);

 private:
  int members() const { return window_->ranks(); }
  /// Returns the member's rank in the group.
  int rank_of(int member) const { return first_ + member; }
  SharedCounter& releases() const { return window_->channel(0, 0).written; }
  void wait_for_step(const Operation& operation, uint32_t step);
  void wait(SharedCounter& counter, uint32_t value, int member, const Operation& operation,
            net::Deadline deadline);
  void throw_failure(int member) const;
  [[noreturn]] void throw_late(int member, const Operation& operation) const;

  const std::shared_ptr<Window> window_;
  const int first_, me_;
  const int64_t area_offset_;
  const Departures& departures_;
  const Listen listen_;
  const Patience patience_;
  uint32_t step_ = 0;      // number of operations that this rank has entered
  uint32_t released_ = 0;  // number of waits for a release
};

}  // namespace distribute::collective
