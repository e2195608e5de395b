#pragma once
#include <distribute/collective/detail/abort_state.hpp>

namespace distribute::collective {

DISTRIBUTE_INLINE bool AbortState::set(StatusCode code, const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (is_set_) return false;
  code_ = code;
  message_ = message;
  is_set_.store(true, std::memory_order_release);
  return true;
}

}  // namespace distribute::collective
