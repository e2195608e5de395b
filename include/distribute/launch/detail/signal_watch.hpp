#pragma once
/// Signals to this process, read from a descriptor instead of interrupting it.

#include <distribute/base/config.hpp>
#include <distribute/launch/detail/descriptor.hpp>

#include <vector>

#include <signal.h>

namespace distribute::launch {

/// Blocks the signals in the calling thread (and threads that it starts) while it lives; they wait
/// in the descriptor. A signal that was ignored, as nohup ignores SIGHUP, stays ignored. It is for
/// programs: other threads must not receive the signals.
class SignalWatch {
 public:
  explicit SignalWatch(std::vector<int> signals);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// Returns a descriptor for ::poll: readable when a signal has come.
  int native() const { return descriptor_.native(); }
  /// Returns the next signal that has come, or 0.
  int next() const;

 private:
  Descriptor descriptor_;
  sigset_t before_;
};

}  // namespace distribute::launch
