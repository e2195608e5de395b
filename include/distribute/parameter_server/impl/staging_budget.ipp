#pragma once
#include <distribute/parameter_server/detail/staging_budget.hpp>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE std::shared_ptr<void> StagingBudget::take(int64_t bytes) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return used_ == 0 || used_ + bytes <= most_; });
  used_ += bytes;
  return std::shared_ptr<void>(nullptr, [this, bytes](void*) {
    const std::lock_guard guard(mutex_);
    used_ -= bytes;
    changed_.notify_all();
  });
}

}  // namespace distribute::parameter_server
