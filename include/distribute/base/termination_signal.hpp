#pragma once
/// Notices that the system is about to end this process.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include <signal.h>

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
