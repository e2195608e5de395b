#pragma once
#include <distribute/base/exit_status.hpp>
#include <distribute/base/leave_notice.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/train/detail/exit_preempted.hpp>
#include <distribute/train/preemption_watcher.hpp>

#include <atomic>
#include <string>

#include <signal.h>
#include <unistd.h>

namespace distribute {

DISTRIBUTE_INLINE PreemptionWatcher::PreemptionWatcher(PreemptionWatcherOptions options)
    : notice_(
          options.termination_watcher_fn
              ? std::make_unique<LeaveNotice>(std::vector<int>{}, options.termination_watcher_fn)
              : std::make_unique<LeaveNotice>(options.signals)) {}

DISTRIBUTE_INLINE PreemptionWatcher::~PreemptionWatcher() = default;

DISTRIBUTE_INLINE std::optional<std::string> PreemptionWatcher::preemption_message() const {
  return notice_->message();
}

}  // namespace distribute

namespace distribute::train {

/// What one ExitOnTermination found, and the line that the handler writes for it: made before, as a
/// handler may not allocate. Empty: no line.
struct TerminationEntry {
  struct sigaction action {};
  std::string line;
  TerminationEntry* outer = nullptr;
};

/// Of those that live. Null: none.
struct TerminationEntries {
  std::atomic<TerminationEntry*> newest{nullptr};
};

/// Returns the line as log_info would write it, without the time, which is not known yet.
DISTRIBUTE_INLINE std::string termination_line() {
  const std::string message = train_internal::text_of_leaving();
  const LogOptions options = log_options();
  if (options.sink || options.min_severity > LogSeverity::Info) return "";
  if (options.format == LogFormat::Human) return "distribute: " + message + "\n";
  const std::string line =
      log_internal::json_line(LogSeverity::Info, options.task, "trainer", message, {});
  return "{" + line.substr(line.find(',') + 1);
}

struct ExitOnTermination::Before : TerminationEntry {};

DISTRIBUTE_INLINE void exit_on_signal(int) {
  const TerminationEntry* entry = in_process<TerminationEntries>().newest.load();
  if (entry) (void)!::write(STDERR_FILENO, entry->line.data(), entry->line.size());
  ::_exit(kExitPreempted);
}

DISTRIBUTE_INLINE ExitOnTermination::ExitOnTermination(bool says)
    : before_(std::make_unique<Before>()) {
  if (says) before_->line = termination_line();
  before_->outer = in_process<TerminationEntries>().newest.exchange(before_.get());
  struct sigaction exiting {};
  exiting.sa_handler = exit_on_signal;
  ::sigemptyset(&exiting.sa_mask);
  ::sigaction(SIGTERM, &exiting, &before_->action);
  if (before_->action.sa_handler == SIG_IGN) ::sigaction(SIGTERM, &before_->action, nullptr);
}

/// One of a function may end before a younger one that is static: that one takes its place.
DISTRIBUTE_INLINE ExitOnTermination::~ExitOnTermination() {
  auto& newest = in_process<TerminationEntries>().newest;
  if (newest == before_.get()) {
    ::sigaction(SIGTERM, &before_->action, nullptr);
    newest = before_->outer;
    return;
  }
  TerminationEntry* younger = newest;
  while (younger->outer != before_.get()) younger = younger->outer;
  younger->outer = before_->outer;
  if (younger->action.sa_handler == exit_on_signal) younger->action = before_->action;
}

}  // namespace distribute::train
