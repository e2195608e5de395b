#pragma once
/// Notices that this process has to end, by signals or announcements.

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

/// Tells whether this process has to end; all classes that save or leave use it. has_come() and
/// message() are thread-safe if the function is.
/// 1. A notice has come when one of the watched signals has arrived since the construction, while a
///    LeaveAnnouncement lives anywhere in the process, or when the function returns true. It is not
///    taken back.
/// 2. While it lives the signals are recorded instead of ending the process; then the earlier
///    handlers are restored. A signal that was ignored stays ignored.
/// 3. Several of them are destroyed in the reverse order of their construction.
class LeaveNotice {
 public:
  /// `further` is called besides the signals; it may be empty, as may be the list of signals.
  /// Throws  InvalidArgumentError for a signal that cannot be handled.
  explicit LeaveNotice(const std::vector<int>& signals = {SIGTERM},
                       std::function<bool()> further = {});
  ~LeaveNotice();
  LeaveNotice(const LeaveNotice&) = delete;
  LeaveNotice& operator=(const LeaveNotice&) = delete;

  /// Returns whether a notice has come.
  bool has_come() const;
  /// Returns the notice; nullopt until it has come.
  std::optional<std::string> message() const;

 private:
  void restore() noexcept;

  const std::function<bool()> further_;
  const bool watches_signals_;
  const int64_t before_;
  mutable std::atomic<const char*> message_{nullptr};  // set once it has come
  std::vector<std::pair<int, struct sigaction>> old_actions_;
};

/// Makes, while it lives, every LeaveNotice of the process true; for classes that get a notice in
/// another way than by a signal, such as train::PreemptionNotice.
class LeaveAnnouncement {
 public:
  LeaveAnnouncement();
  ~LeaveAnnouncement();
  LeaveAnnouncement(const LeaveAnnouncement&) = delete;
  LeaveAnnouncement& operator=(const LeaveAnnouncement&) = delete;
};

}  // namespace distribute
