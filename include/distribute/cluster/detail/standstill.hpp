#pragma once
/// Whether this process was frozen itself: then it is the others that took it for lost.

#include <distribute/base/config.hpp>
#include <distribute/net/deadline.hpp>

#include <mutex>
#include <string>

namespace distribute::cluster_internal {

/// Looked at again and again by a thread; a long time between two looks was a standstill of this
/// process. Thread-safe.
class Standstill {
 public:
  using Clock = net::Deadline::Clock;

  /// Others may count this task as lost when it stood still for `limit` seconds: they do so after
  /// a silence, which begins with the heartbeat before.
  explicit Standstill(double limit) : limit_(limit), last_(Clock::now()) {}

  /// Returns the seconds since the last look.
  double look(Clock::time_point now);
  /// For the end of the reason why a peer is lost: that this process stood still until a moment
  /// ago. Empty when it did not.
  std::string text(Clock::time_point now) const;

 private:
  const double limit_;
  mutable std::mutex mutex_;  // guards all below
  Clock::time_point last_, woke_{};
  double seconds_ = 0;  // of the standstill until woke_
};

}  // namespace distribute::cluster_internal
