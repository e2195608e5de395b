#pragma once
/// Notices that this process has to end: signals, and what else announces it.

#include <distribute/base/config.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <signal.h>

namespace distribute {

/// Whether this process has to go: the one answer that all classes which save or leave share. It
/// has when one of the watched signals has come since the beginning, while a LeaveAnnouncement
/// lives anywhere in the process, or when a function says so. A notice is not taken back.
/// While it lives the signals are counted instead of ending the process; then the handlers of
/// before are back. A signal that was ignored stays so. Several of them end in the reverse order of
/// their beginning. has_come() and message() are thread-safe where the function is.
class LeaveNotice {
 public:
  /// `further`: asked besides the signals; may be empty, as may be the list of signals.
  /// Throws  InvalidArgumentError for a signal that cannot be handled.
  explicit LeaveNotice(const std::vector<int>& signals = {SIGTERM},
                       std::function<bool()> further = {});
  ~LeaveNotice();
  LeaveNotice(const LeaveNotice&) = delete;
  LeaveNotice& operator=(const LeaveNotice&) = delete;

  /// Whether a signal or what was asked besides says that this process is to leave.
  bool has_come() const;
  /// What has come; none until then.
  std::optional<std::string> message() const;

 private:
  void restore() noexcept;

  const std::function<bool()> further_;
  const bool watches_signals_;
  const int64_t before_;
  mutable std::atomic<const char*> message_{nullptr};  // once it has come
  std::vector<std::pair<int, struct sigaction>> old_actions_;
};

/// While it lives every LeaveNotice of the process has come. For what learns it otherwise than by a
/// signal, such as train::PreemptionNotice.
class LeaveAnnouncement {
 public:
  LeaveAnnouncement();
  ~LeaveAnnouncement();
  LeaveAnnouncement(const LeaveAnnouncement&) = delete;
  LeaveAnnouncement& operator=(const LeaveAnnouncement&) = delete;
};

}  // namespace distribute
