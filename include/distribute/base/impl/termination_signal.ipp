#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/base/signals.hpp>

#include <cerrno>
#include <cstring>

namespace distribute {

/// In a signal handler: nothing but an atomic number.
DISTRIBUTE_INLINE void count_signal(int) {
  static_assert(std::atomic<int64_t>::is_always_lock_free);
  process_state().termination_signals.fetch_add(1, std::memory_order_relaxed);
}

DISTRIBUTE_INLINE TerminationSignal::TerminationSignal(const std::vector<int>& signals)
    : before_(process_state().termination_signals.load()) {
  for (const int number : signals) {
    struct sigaction old {};
    if (::sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;
    struct sigaction counting {};
    counting.sa_handler = count_signal;
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

DISTRIBUTE_INLINE void TerminationSignal::restore() noexcept {
  for (; !old_actions_.empty(); old_actions_.pop_back())
    ::sigaction(old_actions_.back().first, &old_actions_.back().second, nullptr);
}

DISTRIBUTE_INLINE TerminationSignal::~TerminationSignal() { restore(); }

DISTRIBUTE_INLINE bool TerminationSignal::has_come() const {
  return process_state().termination_signals.load() != before_;
}

}  // namespace distribute
