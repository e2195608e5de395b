#pragma once
/// Waiting for another thread of this process: spin for a moment, then sleep.

#include <atomic>
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

/// Waits until `value` is not `old`. About 50 us of spinning first, unless more threads work
/// together than there are cores: then spinning would hold up the very thread waited for.
inline void wait_while_equal(const std::atomic<uint32_t>& value, uint32_t old, int threads) {
  static const int cores = int(std::thread::hardware_concurrency());
  const int spins = threads <= cores ? 1500 : 0;
  for (int i = 0; i < spins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause_briefly();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace distribute::strategy_internal
