#pragma once
/// How waits end: at a moment, with an error, or woken by another thread.

#include <distribute/base/config.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace distribute::net {

/// Converts seconds to the clock's unit.
inline std::chrono::nanoseconds seconds(double time) {
  return std::chrono::nanoseconds(int64_t(time * 1e9));
}

/// A point in time that can be copied. Every function that waits takes one.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  /// Gives the deadline `time` from now.
  static Deadline after(std::chrono::nanoseconds time) { return Deadline(Clock::now() + time); }
  static Deadline after_seconds(double time) { return after(seconds(time)); }
  /// Gives a deadline of 30 years, for calls that end only with the process at their other end.
  static Deadline never() { return after_seconds(1e9); }

  /// Returns whether the deadline has passed.
  bool passed() const { return Clock::now() >= when_; }
  /// Returns the time until the deadline, at least 0.
  std::chrono::nanoseconds left() const {
    return std::max(when_ - Clock::now(), std::chrono::nanoseconds(0));
  }
  /// Milliseconds for ::poll, rounded up and at most an hour.
  int left_ms() const {
    return int(std::min<int64_t>((left().count() + 999'999) / 1'000'000, 3'600'000));
  }
  Clock::time_point when() const { return when_; }
  Deadline earlier(Deadline other) const { return when_ < other.when_ ? *this : other; }

 private:
  explicit Deadline(Clock::time_point when) : when_(when) {}
  Clock::time_point when_;
};

/// A descriptor that is readable between signal() and clear(). Thread-safe.
class WakeUp {
 public:
  /// Throws  ResourceExhaustedError when this process has no descriptor left.
  WakeUp();
  WakeUp(const WakeUp&) = delete;
  ~WakeUp();

  /// Returns the descriptor for ::poll, which signal() wakes until clear().
  int native() const { return descriptor_; }
  void signal() const;
  void clear() const;

 private:
  int descriptor_;
};

}  // namespace distribute::net
