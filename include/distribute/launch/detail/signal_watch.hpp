#pragma once
/// Signals to this process, read from a descriptor instead of handled at any moment.

#include <distribute/base/config.hpp>
#include <distribute/launch/detail/descriptor.hpp>

#include <vector>

#include <signal.h>

namespace distribute::launch {

/// While it lives the signals are blocked in the calling thread (and threads that it starts) and
/// wait in the descriptor. A signal that was ignored, as nohup ignores SIGHUP, stays so.
/// For programs: other threads must not take the signals.
class SignalWatch {
 public:
  explicit SignalWatch(std::vector<int> signals);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// For ::poll: readable when a signal has come.
  int native() const { return descriptor_.native(); }
  /// The next signal that has come, or 0.
  int next() const;

 private:
  Descriptor descriptor_;
  sigset_t before_;
};

}  // namespace distribute::launch
