#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/base/threads.hpp>

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

namespace distribute::base_internal {

DISTRIBUTE_INLINE sigset_t pipe_signal() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGPIPE);
  return signals;
}

DISTRIBUTE_INLINE PipeSignalBlock::PipeSignalBlock() {
  const sigset_t signals = pipe_signal();
  ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

/// A thread that blocks the signal by itself, as the launcher does, gets it in its own way.
DISTRIBUTE_INLINE PipeSignalBlock::~PipeSignalBlock() {
  const sigset_t signals = pipe_signal();
  const timespec no_time{};
  while (::sigismember(&before_, SIGPIPE) == 0 && ::sigtimedwait(&signals, nullptr, &no_time) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace distribute::base_internal
