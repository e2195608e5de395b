#pragma once
/// Wakes a thread that waits in ::poll.

#include <distribute/base/config.hpp>

namespace distribute::net {

/// A descriptor that is readable between signal() and clear(). Thread-safe.
class WakeUp {
 public:
  /// Throws  ResourceExhaustedError when this process has no descriptor left.
  WakeUp();
  WakeUp(const WakeUp&) = delete;
  ~WakeUp();

  /// The descriptor for ::poll, which signal() wakes until clear().
  int native() const { return descriptor_; }
  void signal() const;
  void clear() const;

 private:
  int descriptor_;
};

}  // namespace distribute::net
