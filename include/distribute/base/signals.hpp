#pragma once
/// Signals: those that ask a process to end, and SIGPIPE.

#include <distribute/base/config.hpp>

#include <signal.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace distribute {

/// While it lives the signals are counted instead of ending the process; then the handlers of
/// before are back. A signal that was ignored stays so. Several of them end in the reverse order of
/// their beginning.
class TerminationSignal {
 public:
  /// Throws  InvalidArgumentError for a signal that cannot be handled.
  explicit TerminationSignal(const std::vector<int>& signals);
  ~TerminationSignal();
  TerminationSignal(const TerminationSignal&) = delete;
  TerminationSignal& operator=(const TerminationSignal&) = delete;

  /// Whether one of the process's signals has come since the beginning.
  bool has_come() const;

 private:
  void restore() noexcept;

  int64_t before_;
  std::vector<std::pair<int, struct sigaction>> old_actions_;
};

}  // namespace distribute

namespace distribute::base_internal {

/// While it lives, SIGPIPE does not reach this thread: the system call says EPIPE. For writes that
/// take no MSG_NOSIGNAL, such as those of OpenSSL inside of libcurl. One thread.
class PipeSignalBlock {
 public:
  PipeSignalBlock();
  /// Forgets a signal that has come meanwhile.
  ~PipeSignalBlock();
  PipeSignalBlock(const PipeSignalBlock&) = delete;

 private:
  sigset_t before_;
};

}  // namespace distribute::base_internal
