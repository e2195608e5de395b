#pragma once
#include <distribute/base/signals.hpp>

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
