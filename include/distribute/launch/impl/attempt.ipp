#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/launch/detail/attempt.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <poll.h>

namespace distribute::launch_internal {

inline constexpr double kSecondsToDie = 5;  // between SIGTERM and SIGKILL

// Connections that are being made at a time: in all, and to one host, whose sshd drops some beyond
// ten (MaxStartups). One that takes longer no longer counts.
inline constexpr int kMostConnecting = 64, kMostConnectingToHost = 8;
inline constexpr double kSecondsToConnect = 30;

DISTRIBUTE_INLINE std::string own_line(const std::string& text) {
  const LogOptions log = log_options();
  if (log.format == LogFormat::Human) return "distribute run: " + text + "\n";
  return log_internal::json_line(LogSeverity::Info, "", "launcher", text, {});
}

/// Whether another start may end otherwise: not after a status below 128 (base/exit_status.hpp).
DISTRIBUTE_INLINE bool may_help(const ExitStatus& status) { return status.shell_status() >= 128; }

DISTRIBUTE_INLINE int order_of_blame(const ExitStatus& status) {
  return status.signal != 0 ? 0 : may_help(status) ? 2 : 1;
}

/// Whether a task has ended by an error of its own, when one that had lost a peer was found first.
DISTRIBUTE_INLINE bool is_cause(const ExitStatus& status, int first_status) {
  return first_status == kExitRetry && !status.ok() && order_of_blame(status) < 2;
}

DISTRIBUTE_INLINE std::string restart_text(const LaunchOptions& options, int number, double pause,
                                           const std::string& whose) {
  const double window = options.restart_window_seconds;
  return str_cat(
      "restart ", number, " of ", options.max_restarts,
      window > 0 ? str_cat(" in ", window, " s") : "", whose,
      pause > 0 ? str_cat(", after a pause of ", std::round(pause * 10) / 10, " s") : "");
}

DISTRIBUTE_INLINE Attempt::Attempt(const LaunchOptions& options, const SignalWatch& signals,
                                   Wishes& wishes, RestartBudget& restarts, Outputs& outputs)
    : options_(options),
      signals_(signals),
      wishes_(wishes),
      job_(options.job),
      restarts_(restarts),
      first_attempt_(restarts.total()),
      outputs_(outputs) {
  outputs_.lose_when_full(wishes.end());
  const int first = options.first_workers > 0 ? options.first_workers : options.job.workers;
  for (int i = 0; i < int(job_.tasks().size()); ++i) {
    const Task& task = job_.tasks()[size_t(i)];
    slots_.push_back({.what = &task});
    slots_.back().waits = !(task.type == "worker" && task.index >= first) && !task.elsewhere;
  }
  start_waiting();
}

DISTRIBUTE_INLINE std::map<std::string, int> Attempt::connecting() const {
  std::map<std::string, int> by_host;
  for (const Slot& slot : slots_) {
    if (slot.ended || !slot.task->is_connecting()) continue;
    const std::chrono::duration<double> since = Deadline::Clock::now() - slot.since;
    if (since.count() < kSecondsToConnect) ++by_host[slot.what->host.name];
  }
  return by_host;
}

DISTRIBUTE_INLINE void Attempt::start(Slot& slot, int attempt) {
  const int number = int(&slot - slots_.data());
  slot.task.reset();
  slot.task = std::make_unique<RunningTask>(options_, job_, number, attempt, guard_, outputs_);
  slot.ended = slot.waits = false;
  slot.since = Deadline::Clock::now();
}

/// Starts tasks that have not been started, as far as their hosts take connections; none once the
/// job ends.
DISTRIBUTE_INLINE void Attempt::start_waiting() {
  if (std::none_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.waits; }))
    return;
  const bool over = wishes_.end() || stage_ != Stage::Running;
  std::map<std::string, int> by_host = connecting();
  int all = 0;
  for (const auto& [host, count] : by_host) all += count;
  for (Slot& slot : slots_) {
    if (!slot.waits) continue;
    if (over) {
      slot.waits = false;
    } else if (slot.what->local) {
      start(slot, first_attempt_);
    } else if (int& here = by_host[slot.what->host.name];
               all < kMostConnecting && here < kMostConnectingToHost) {
      start(slot, first_attempt_);
      ++all, ++here;
    }
  }
}

/// Whether all parameter servers have ended with status 0, as they do when the job is done and all
/// other tasks have left them.
DISTRIBUTE_INLINE bool Attempt::servers_are_done() const {
  return options_.job.parameter_servers > 0 &&
         std::all_of(slots_.begin(), slots_.end(), [](const Slot& slot) {
           return slot.what->type != "ps" || (!slot.task && !slot.waits) ||
                  (slot.ended && slot.task && slot.task->process().poll()->ok());
         });
}

/// A worker that has come back when the servers had ended finds nothing to do.
DISTRIBUTE_INLINE bool Attempt::decides(const Slot& slot) const {
  const Task& task = *slot.what;
  if (task.type == "chief") return true;
  const bool coordinated = options_.job.chief && options_.job.parameter_servers > 0;
  const bool too_late = slot.restarts > 0 && task.index > 0 && servers_are_done();
  return task.type == "worker" && !coordinated && !too_late;
}

DISTRIBUTE_INLINE bool Attempt::all_ended(bool only_deciding) const {
  return std::all_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return (slot.ended && !slot.again && !slot.waits) || (only_deciding && !decides(slot));
  });
}

DISTRIBUTE_INLINE int Attempt::run() {
  while (!all_ended(false)) {
    wait();
    take_signals();
    for (Slot& slot : slots_)
      if (!slot.ended) slot.task->read(false);
    look_for_ends();
    escalate();
    start_due();
    start_waiting();
  }
  return status_;
}

/// Streams whose output is full are left out: their tasks wait in their own writes.
DISTRIBUTE_INLINE void Attempt::wait() {
  constexpr int kLookAgainMs = 50, kLongestMs = 1000;
  std::vector<pollfd> entries{{signals_.native(), POLLIN, 0}, {outputs_.native(), POLLIN, 0}};
  int longest = kLongestMs;
  if (next_) longest = std::min(longest, next_->left_ms());
  if (wishes_.end() && stage_ != Stage::Killed)
    longest = std::min(longest, wishes_.end_by->left_ms());
  for (Slot& slot : slots_) {
    if (slot.again) longest = std::min(longest, slot.again->left_ms());
    if (slot.waits) longest = std::min(longest, kLookAgainMs);
    if (slot.ended) continue;
    const int exit = slot.task->process().exit_descriptor();
    entries.push_back({exit, POLLIN, 0});
    for (const int stream : slot.task->readable()) entries.push_back({stream, POLLIN, 0});
    if (exit < 0) longest = std::min(longest, kLookAgainMs);
  }
  ::poll(entries.data(), entries.size(), longest);
  outputs_.forget_changes();
}

/// Tasks that are to end must not wait for a reader: they may have something to save.
DISTRIBUTE_INLINE void Attempt::take_signals() {
  while (const int number = signals_.next()) {
    if (number == SIGPIPE || number == SIGXFSZ) continue;  // watched only to outlive them
    if (wishes_.note(number, options_.stop_timeout)) outputs_.lose_when_full(true);
    if (wishes_.kill()) stage_ = Stage::Killed;
    signal_all(wishes_.kill() ? SIGKILL : number);
  }
}

DISTRIBUTE_INLINE void Attempt::signal_all(int number) {
  for (Slot& slot : slots_)
    if (!slot.ended) slot.task->signal(number);
}

DISTRIBUTE_INLINE void Attempt::say(const std::string& text) { outputs_.err().add(own_line(text)); }

/// If several tasks are found ended, one that a signal ended counts as the cause, or else one whose
/// status says that another start would not help.
DISTRIBUTE_INLINE void Attempt::look_for_ends() {
  std::vector<Slot*> ended;
  for (Slot& slot : slots_)
    if (!slot.ended && slot.task->process().poll()) ended.push_back(&slot);
  std::stable_sort(ended.begin(), ended.end(), [](Slot* a, Slot* b) {
    return order_of_blame(*a->task->process().poll()) < order_of_blame(*b->task->process().poll());
  });
  for (Slot* slot : ended) end(*slot);
  if (!ended.empty() && stage_ < Stage::Terminated && all_ended(true)) terminate();
}

DISTRIBUTE_INLINE void Attempt::end(Slot& slot) {
  const ExitStatus status = *slot.task->process().poll();
  slot.task->read(true);
  slot.ended = true;
  if (!status.ok() && stage_ == Stage::Killed && wishes_.end()) end_when_told(slot, status);
  const bool cause = stage_ == Stage::Grace && !wishes_.end() && is_cause(status, status_);
  if (status.ok() || (stage_ != Stage::Running && !cause)) return;
  say(slot.task->report(status));
  if (!cause && goes_on_without(slot)) return;
  outputs_.lose_when_full(true);
  status_ = status.shell_status();
  may_start_again_ = may_help(status);
  if (cause) return;
  stage_ = Stage::Grace;
  const bool preempted = status.code == launch::kPreempted;  // the others save, too
  next_ = Deadline::after_seconds(preempted ? std::max(options_.stop_timeout - kSecondsToDie, 0.0)
                                            : options_.grace_seconds);
}

/// A job is not done when the launcher had to kill a task of it: it ends as by the signal.
DISTRIBUTE_INLINE void Attempt::end_when_told(const Slot& slot, const ExitStatus& status) {
  const bool killed = status.signal == SIGKILL;
  if (killed && wishes_.kill()) say(slot.task->who() + " was killed: a second SIGINT has come");
  if (killed && !wishes_.kill())
    say(str_cat(slot.task->who(), " was killed: it had not ended ", options_.stop_timeout,
                " s (--stop-timeout) after the signal"));
  if (status_ != 0 || !decides(slot)) return;
  status_ = killed ? 128 + wishes_.signal : status.shell_status();
}

DISTRIBUTE_INLINE int Attempt::running_workers() const {
  return int(std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) {
    return (!slot.ended || slot.again || slot.waits) && slot.what->type == "worker";
  }));
}

/// Whether a chief or worker that a signal has ended starts again while servers keep the variables.
/// A task that ends by itself has found a cause that concerns the others too, such as a lost
/// server.
DISTRIBUTE_INLINE bool Attempt::returns_to_servers(const Slot& slot) const {
  const ExitStatus status = *slot.task->process().poll();
  const std::string& type = slot.task->task().type;
  return options_.job.parameter_servers > 0 && (type == "worker" || type == "chief") &&
         (status.signal != 0 || status.code == launch::kPreempted);
}

/// Returns whether a task that has failed starts again alone, or is not needed.
DISTRIBUTE_INLINE bool Attempt::goes_on_without(Slot& slot) {
  if (wishes_.end()) return false;
  const bool elastic = options_.min_workers > 0 && slot.task->task().type == "worker";
  const bool helps = may_help(*slot.task->process().poll());
  if ((returns_to_servers(slot) || elastic) && helps && restarts_.allows()) {
    plan_restart(slot);
    return true;
  }
  if (!elastic) return false;
  const int left = running_workers();
  if (left < options_.min_workers) return false;
  say(str_cat(left, " workers go on"));
  return true;
}

DISTRIBUTE_INLINE void Attempt::plan_restart(Slot& slot) {
  const std::chrono::duration<double> ran = Deadline::Clock::now() - slot.since;
  const double pause = slot.pause.next(ran.count());
  say(restart_text(options_, restarts_.take(), pause, ": " + slot.task->task().name()));
  slot.again = Deadline::after_seconds(pause);
}

/// Starts tasks whose pause is over; none once the job ends.
DISTRIBUTE_INLINE void Attempt::start_due() {
  for (Slot& slot : slots_) {
    if (!slot.again) continue;
    const bool over = wishes_.end() || stage_ != Stage::Running;
    if (!over && !slot.again->passed()) continue;
    slot.again.reset();
    if (wishes_.end() && status_ == 0) status_ = slot.task->process().poll()->shell_status();
    if (over) continue;
    start(slot, ++slot.restarts);
  }
}

DISTRIBUTE_INLINE void Attempt::terminate() {
  signal_all(SIGTERM);
  stage_ = Stage::Terminated;
  next_ = Deadline::after_seconds(kSecondsToDie);
}

DISTRIBUTE_INLINE void Attempt::escalate() {
  const bool late = wishes_.end() && wishes_.end_by->passed() && stage_ != Stage::Killed;
  if (!late && (!next_ || !next_->passed())) return;
  if (!late && stage_ == Stage::Grace) return terminate();
  signal_all(SIGKILL);
  stage_ = Stage::Killed;
  next_.reset();
}

}  // namespace distribute::launch_internal
