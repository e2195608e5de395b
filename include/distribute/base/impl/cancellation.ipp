#pragma once
#include <distribute/base/cancellation.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/thread_context.hpp>

namespace distribute {

namespace base_internal {
/// Returns the calling thread's flag, or null.
DISTRIBUTE_INLINE const CancellationFlag*& cancellation_flag() {
  return base_internal::in_thread_context<base_internal::ContextPlace{0, 0, true},
                                          const CancellationFlag*>();
}
}  // namespace base_internal

DISTRIBUTE_INLINE CancellationScope::CancellationScope(const CancellationFlag* flag)
    : outer_(base_internal::cancellation_flag()) {
  base_internal::cancellation_flag() = flag;
}

DISTRIBUTE_INLINE CancellationScope::~CancellationScope() {
  base_internal::cancellation_flag() = outer_;
}

DISTRIBUTE_INLINE bool is_cancelled() {
  const CancellationFlag* flag = base_internal::cancellation_flag();
  return flag && *flag;
}

DISTRIBUTE_INLINE void throw_if_cancelled() {
  if (is_cancelled()) throw CancelledError("the function was cancelled. Please reschedule");
}

}  // namespace distribute
