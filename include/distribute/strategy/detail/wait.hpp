#pragma once
/// Waits for another thread of this process: spins, yields the core, then sleeps.

#include <distribute/base/limits.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace distribute::strategy_internal {

inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Yields the core until `value` is not `old`, for 3 ms at most; returns false if it still is then.
/// A thread that sleeps instead wakes up late, above all on a virtual machine, and often on another
/// core.
inline bool yield_while_equal(const std::atomic<uint32_t>& value, uint32_t old) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(3);
  while (Clock::now() < end)
    for (int i = 0; i < 16; ++i) {
      if (value.load(std::memory_order_acquire) != old) return true;
      std::this_thread::yield();
    }
  return false;
}

/// Waits until `value` is not `old`. It spins for about 50 us first if that pays for `threads` that
/// work together.
inline void wait_while_equal(const std::atomic<uint32_t>& value, uint32_t old, int threads) {
  if (spinning_pays(threads)) {
    for (int i = 0; i < 1500; ++i) {
      if (value.load(std::memory_order_acquire) != old) return;
      pause_briefly();
    }
    if (yield_while_equal(value, old)) return;
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace distribute::strategy_internal
