#pragma once
#include <distribute/base/error.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <chrono>

namespace distribute::testing {

DISTRIBUTE_INLINE void Latch::count_down() {
  const std::lock_guard lock(mutex_);
  if (count_ <= 0) throw FailedPreconditionError("the latch is open already");
  if (--count_ == 0) opened_.notify_all();
}

DISTRIBUTE_INLINE void Latch::wait(double seconds) {
  std::unique_lock lock(mutex_);
  const auto open = [&] { return count_ <= 0; };
  if (!opened_.wait_for(lock, std::chrono::duration<double>(seconds), open))
    throw DeadlineExceededError(
        str_cat("the latch has not opened within ", seconds, " s: ", count_, " are missing"));
}

DISTRIBUTE_INLINE bool Latch::is_open() {
  const std::lock_guard lock(mutex_);
  return count_ <= 0;
}

}  // namespace distribute::testing
