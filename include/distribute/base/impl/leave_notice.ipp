#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/leave_notice.hpp>
#include <distribute/base/process_state.hpp>

#include <cerrno>
#include <cstring>

namespace distribute {

namespace base_internal {

/// Notices that the process has received so far.
struct LeaveState {
  std::atomic<int64_t> signals{0};  // counted
  std::atomic<int64_t> announcements{0};
};

/// Counts in a signal handler, which may only change an atomic number.
DISTRIBUTE_INLINE void count_signal(int) {
  static_assert(std::atomic<int64_t>::is_always_lock_free);
  in_process<LeaveState>().signals.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace base_internal

DISTRIBUTE_INLINE LeaveNotice::LeaveNotice(const std::vector<int>& signals,
                                           std::function<bool()> further)
    : further_(std::move(further)),
      watches_signals_(!signals.empty()),
      before_(in_process<base_internal::LeaveState>().signals.load()) {
  for (const int number : signals) {
    struct sigaction old {};
    if (::sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    struct sigaction counting {};
    counting.sa_handler = base_internal::count_signal;
    counting.sa_flags = SA_RESTART;
    ::sigemptyset(&counting.sa_mask);
    if (::sigaction(number, &counting, &old) != 0) {
      const std::string reason = std::strerror(errno);
      restore();
      throw InvalidArgumentError(str_cat("signal ", number, " cannot be watched: ", reason));
    }
    old_actions_.emplace_back(number, old);
  }
}

DISTRIBUTE_INLINE void LeaveNotice::restore() noexcept {
  for (; !old_actions_.empty(); old_actions_.pop_back())
    ::sigaction(old_actions_.back().first, &old_actions_.back().second, nullptr);
}

DISTRIBUTE_INLINE LeaveNotice::~LeaveNotice() { restore(); }

DISTRIBUTE_INLINE bool LeaveNotice::has_come() const {
  if (message_) return true;
  const auto& state = in_process<base_internal::LeaveState>();
  if (watches_signals_ && state.signals != before_)
    message_ = "this process was sent a signal to end";
  else if (state.announcements > 0)
    message_ = "the end of this machine or process was announced";
  else if (further_ && further_())
    message_ = "termination_watcher_fn says that this process has to go";
  return message_ != nullptr;
}

DISTRIBUTE_INLINE std::optional<std::string> LeaveNotice::message() const {
  if (!has_come()) return std::nullopt;
  return message_.load();
}

DISTRIBUTE_INLINE LeaveAnnouncement::LeaveAnnouncement() {
  ++in_process<base_internal::LeaveState>().announcements;
}

DISTRIBUTE_INLINE LeaveAnnouncement::~LeaveAnnouncement() {
  --in_process<base_internal::LeaveState>().announcements;
}

}  // namespace distribute
