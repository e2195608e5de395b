#pragma once
#include <distribute/base/detail/first_exception.hpp>

#include <utility>

namespace distribute::base_internal {

DISTRIBUTE_INLINE void FirstException::keep() noexcept {
  if (claimed_.exchange(true, std::memory_order_relaxed)) return;
  exception_ = std::current_exception();
  kept_.store(true, std::memory_order_release);
}

DISTRIBUTE_INLINE void FirstException::throw_kept() {
  std::rethrow_exception(std::exchange(exception_, nullptr));
}

}  // namespace distribute::base_internal
