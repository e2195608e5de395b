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

/// The line that the handler writes, made before, as a handler may not allocate. Null: no line.
struct TerminationLine {
  std::atomic<const std::string*> text{nullptr};
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

struct ExitOnTermination::Before {
  struct sigaction action {};
  std::string line = termination_line();
  const std::string* outer = nullptr;
};

DISTRIBUTE_INLINE ExitOnTermination::ExitOnTermination(bool says)
    : before_(std::make_unique<Before>()) {
  if (!says) before_->line.clear();
  before_->outer = in_process<TerminationLine>().text.exchange(&before_->line);
  struct sigaction exiting {};
  exiting.sa_handler = [](int) {
    if (const std::string* line = in_process<TerminationLine>().text.load())
      (void)!::write(STDERR_FILENO, line->data(), line->size());
    ::_exit(kExitPreempted);
  };
  ::sigemptyset(&exiting.sa_mask);
  ::sigaction(SIGTERM, &exiting, &before_->action);
  if (before_->action.sa_handler == SIG_IGN) ::sigaction(SIGTERM, &before_->action, nullptr);
}

DISTRIBUTE_INLINE ExitOnTermination::~ExitOnTermination() {
  ::sigaction(SIGTERM, &before_->action, nullptr);
  in_process<TerminationLine>().text = before_->outer;
}

}  // namespace distribute::train
