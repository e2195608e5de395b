#pragma once
/// Detects that this process itself was frozen, so that the others counted it as lost.

#include <distribute/base/config.hpp>
#include <distribute/net/deadline.hpp>

#include <mutex>
#include <string>

namespace distribute::cluster_internal {

/// A thread calls look() regularly; a long time between two calls was a standstill of this process.
/// Thread-safe.
class Standstill {
 public:
  using Clock = net::Deadline::Clock;

  /// `limit` is the number of seconds of standstill after which others may count this task as lost.
  /// They do so after a silence, which begins with the heartbeat before.
  explicit Standstill(double limit) : limit_(limit), last_(Clock::now()) {}

  /// Returns the seconds since the last look.
  double look(Clock::time_point now);
  /// Returns a text for the end of the reason why a peer is lost: that this process stood still
  /// until a moment ago; empty when it did not.
  std::string text(Clock::time_point now) const;

 private:
  const double limit_;
  mutable std::mutex mutex_;  // guards all below
  Clock::time_point last_, woke_{};
  double seconds_ = 0;  // of the standstill until woke_
};

}  // namespace distribute::cluster_internal
