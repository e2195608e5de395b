#pragma once
/// Measures the difference between this task's clock and the leader's.

#include <distribute/net/deadline.hpp>

#include <array>
#include <cstdint>

namespace distribute {

/// Returns nanoseconds of std::chrono::steady_clock.
inline int64_t clock_ns() { return net::Deadline::Clock::now().time_since_epoch().count(); }

/// Keeps the last round trips and uses the shortest one: a trip that a busy machine delayed is
/// wrong by at most half its delay. Thread-compatible.
class ClockOffset {
 public:
  /// Adds a round trip. The message left at `sent` and came back at `received`, on this task's
  /// clock; the leader got it at `there` and answered at `back`, on the leader's.
  void add(int64_t sent, int64_t there, int64_t back, int64_t received) {
    trips_[next_++ % trips_.size()] = {received - sent - (back - there),
                                       ((there - sent) + (back - received)) / 2};
  }
  /// Returns the difference to add to this task's clock to get the leader's; 0 before the first
  /// round trip.
  int64_t offset() const {
    Trip best = trips_[0];
    for (const Trip& trip : trips_)
      if (trip.round_trip < best.round_trip) best = trip;
    return best.offset;
  }
  int64_t trips() const { return next_; }

 private:
  struct Trip {
    int64_t round_trip = INT64_MAX, offset = 0;
  };
  std::array<Trip, 16> trips_{};
  int64_t next_ = 0;
};

}  // namespace distribute
