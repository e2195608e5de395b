#pragma once
/// Passes an exception from threads, which must not end with one, to the waiting thread.

#include <distribute/base/config.hpp>

#include <atomic>
#include <exception>

namespace distribute::base_internal {

/// The first exception of a group of threads, for the one that waits for them. Thread-safe.
class FirstException {
 public:
  /// Keeps the exception being handled, unless another thread has kept one.
  void keep() noexcept;
  /// Throws the kept exception, if there is one. Call it once the threads have ended.
  void rethrow() {
    if (kept_.load(std::memory_order_acquire)) throw_kept();
  }

 private:
  [[noreturn]] void throw_kept();

  std::atomic<bool> claimed_{false}, kept_{false};
  std::exception_ptr exception_;  // written by the first thread, read once it is kept
};

}  // namespace distribute::base_internal
