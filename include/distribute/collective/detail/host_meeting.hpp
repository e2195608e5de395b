#pragma once
/// Where the ranks of a host meet, in its shared memory, while their first rank speaks for them.

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

/// Every collective passes here first: a rank that waits here sees which operation the others run.
/// There are two areas of memory in turn. A rank may come to an operation when all have come to the
/// one before it, and so have left the area of the one before that.
/// Used by one thread.
class HostMeeting {
 public:
  static constexpr int64_t kAreaBytes = 1 << 20;
  /// Called while waiting, to throw what is to be heard elsewhere.
  using Listen = std::function<void()>;

  /// `area_offset`: where both areas lie in the arena of the host's first rank. `departures` are
  /// borrowed.
  HostMeeting(std::shared_ptr<Window> window, const HostLayout& layout, int rank,
              int64_t area_offset, const Departures& departures, Listen listen);

  /// The area of the operation that comes next. Blocks  until it is free.
  std::byte* area(const Operation& operation);
  /// Says that this rank has come; its part of the area is written.
  void come(const Operation& operation);
  /// Blocks  until all are here.
  /// Throws  FailedPreconditionError when they run other operations; DeadlineExceededError with the
  ///         missing ranks; the error of a rank that failed.
  void wait_for_all(const Operation& operation);
  /// The first rank lets the others go on, as often as they wait for it.
  void release();
  void wait_for_release(const Operation& operation, net::Deadline deadline);
  /// Ends the others' waits, now and in future.
  void fail(StatusCode code, const std::string& message);

 private:
  int members() const { return window_->ranks(); }
  /// The member's rank in the group.
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
  uint32_t step_ = 0;      // operations this rank has come to
  uint32_t released_ = 0;  // waits for a release
};

}  // namespace distribute::collective
