#pragma once
/// Takes an exception out of threads that must not end with one.

#include <distribute/base/config.hpp>

#include <atomic>
#include <exception>

namespace distribute::base_internal {

/// The first exception of a group of threads, for the one that waits for them. Thread-safe.
class FirstException {
 public:
  /// In a handler: keeps what was thrown unless another thread was first.
  void keep() noexcept;
  /// Once the threads have ended. Throws  what keep() has kept.
  void rethrow() {
    if (kept_.load(std::memory_order_acquire)) throw_kept();
  }

 private:
  [[noreturn]] void throw_kept();

  std::atomic<bool> claimed_{false}, kept_{false};
  std::exception_ptr exception_;  // written by the thread that claimed it, read once it is kept
};

}  // namespace distribute::base_internal
