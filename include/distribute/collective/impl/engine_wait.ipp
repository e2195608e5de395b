#pragma once
#include <distribute/base/limits.hpp>
#include <distribute/collective/detail/engine_group.hpp>
#include <distribute/collective/detail/engine_wait.hpp>

#include <chrono>
#include <thread>

#include <poll.h>

namespace distribute::collective {

DISTRIBUTE_INLINE void EngineWait::wait(EngineGroup& group, int wake, const Operation& operation,
                                        int most_ms) {
  const auto now = net::Deadline::Clock::now();
  if (moved_at_ == Time{}) moved_at_ = now;
  const std::chrono::duration<double> idle = now - moved_at_;
  const double spin_seconds = cores_are_contended() ? 0 : spin_seconds_;
  if (idle.count() < spin_seconds) return;
  const int handle = group.wait_handle();
  if (handle >= 0) {
    pollfd polled[] = {{wake, POLLIN, 0}, {handle, POLLIN, 0}};
    ::poll(polled, 2, most_ms);
  } else if (handle == -2) {
    wait_without_handle(operation, now, spin_seconds > 0);
  }
}

/// MPI moves bytes only while it is called, one piece at a call, and reports a message only at its
/// end: it is called repeatedly for as long as a transfer takes, as in MPI's own waits. After that
/// time another rank is late, and the core may be needed. The core is yielded from time to time
/// even if each rank should have one, as the system may run two of them on the same core.
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
