#pragma once
#include <distribute/base/limits.hpp>
#include <distribute/collective/detail/engine_group.hpp>
#include <distribute/collective/detail/engine_wait.hpp>

#include <chrono>
#include <thread>

#include <poll.h>

namespace distribute::collective {

DISTRIBUTE_INLINE void EngineWait::wait(EngineGroup& group, int wake, const Operation& operation) {
  const auto now = net::Deadline::Clock::now();
  if (moved_at_ == Time{}) moved_at_ = now;
  const std::chrono::duration<double> idle = now - moved_at_;
  const double spin_seconds = cores_are_contended() ? 0 : spin_seconds_;
  if (idle.count() < spin_seconds) return;
  const int handle = group.wait_handle();
  if (handle >= 0) {
    pollfd polled[] = {{wake, POLLIN, 0}, {handle, POLLIN, 0}};
    ::poll(polled, 2, operation.deadline.left_ms());
  } else if (handle == -2) {
    wait_without_handle(operation, now, spin_seconds > 0);
  }
}

/// MPI moves bytes only while it is called, a piece at a call, and tells of none before the end: it
/// is called again and again for as long as a transfer takes, as MPI's own waits do. After that
/// another rank is late, and the core may be needed. Now and then the core is given away even where
/// each rank should have one: the system may have put two of them on the same.
DISTRIBUTE_INLINE void EngineWait::wait_without_handle(const Operation& operation, Time now,
                                                       bool each_rank_has_a_core) {
  using namespace std::chrono_literals;
  constexpr double kSlowestBytesPerSecond = 1e9;
  const std::chrono::duration<double> idle = now - moved_at_, transfer(double(bytes_of(operation)) /
                                                                       kSlowestBytesPerSecond);
  if (idle > 2ms + transfer) {
    std::this_thread::sleep_for(50us);
  } else if (!each_rank_has_a_core || now - yielded_at_ > 20us) {
    yielded_at_ = now;
    std::this_thread::yield();
  }
}

}  // namespace distribute::collective
