#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/launch/detail/outputs.hpp>
#include <distribute/launch/detail/restart_budget.hpp>
#include <distribute/launch/detail/running_task.hpp>
#include <distribute/launch/detail/signal_watch.hpp>
#include <distribute/launch/detail/stray_processes.hpp>
#include <distribute/launch/launcher.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

namespace distribute::launch_internal {

using launch::ExitStatus;
using launch::Job;
using launch::LaunchOptions;
using launch::ProcessGuard;
using launch::SignalWatch;
using launch::Task;
using net::Deadline;

inline constexpr double kSecondsToDie = 5;  // between SIGTERM and SIGKILL

/// Requests of the user by signals; they outlive the attempts.
struct Wishes {
  int interrupts = 0;
  int signal = 0;                       // the first that asks for the end
  std::optional<Deadline> end_by = {};  // no restart

  bool end() const { return end_by.has_value(); }
  bool kill() const { return interrupts > 1; }

  /// Whether the signal asks for the end.
  bool note(int number, double stop_timeout) {
    if (number == SIGINT) ++interrupts;
    if (number != SIGINT && number != SIGTERM && number != SIGHUP) return false;
    if (!end_by) end_by = Deadline::after_seconds(stop_timeout), signal = number;
    return true;
  }
};

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

/// Returns "restart 2 of 5 in 600 s: worker 1, after a pause of 0.8 s".
DISTRIBUTE_INLINE std::string restart_text(const LaunchOptions& options, int number, double pause,
                                           const std::string& whose) {
  const double window = options.restart_window_seconds;
  return str_cat(
      "restart ", number, " of ", options.max_restarts,
      window > 0 ? str_cat(" in ", window, " s") : "", whose,
      pause > 0 ? str_cat(", after a pause of ", std::round(pause * 10) / 10, " s") : "");
}

/// One start of all tasks. The order of the members matters: processes are destroyed before their
/// guard.
class Attempt {
 public:
  /// `restarts`: of the job and of single tasks so far; counted on here.
  Attempt(const LaunchOptions& options, const SignalWatch& signals, Wishes& wishes,
          RestartBudget& restarts, Outputs& outputs);
  /// Blocks until all tasks have ended. Returns the first failed one's status.
  int run();
  /// Whether the failure of the job is one that another start may be spared.
  bool may_start_again() const { return may_start_again_; }
  pid_t guard_pid() const { return guard_.pid(); }

 private:
  struct Slot {
    std::unique_ptr<RunningTask> task;
    bool ended = false;
    int restarts = 0;                    // alone
    std::optional<Deadline> again = {};  // has ended and is to start again
    Deadline::Clock::time_point since = Deadline::Clock::now();
    RestartPause pause = {};
  };
  enum class Stage { Running, Grace, Terminated, Killed };

  bool servers_are_done() const;
  bool decides(const Slot& slot) const;
  bool all_ended(bool only_deciding) const;
  void wait();
  void take_signals();
  void say(const std::string& text);
  void look_for_ends();
  void end(Slot& slot);
  void end_when_told(const Slot& slot, const ExitStatus& status);
  bool returns_to_servers(const Slot& slot) const;
  bool goes_on_without(Slot& slot);
  void plan_restart(Slot& slot);
  void start_due();
  int running_workers() const;
  void escalate();
  void signal_all(int number);
  void terminate();

  const LaunchOptions& options_;
  const SignalWatch& signals_;
  Wishes& wishes_;
  const Job job_;
  const ProcessGuard guard_;
  std::vector<Slot> slots_;
  RestartBudget& restarts_;
  Outputs& outputs_;
  int status_ = 0;  // of the first task that failed
  bool may_start_again_ = true;
  Stage stage_ = Stage::Running;
  std::optional<Deadline> next_;  // when the next stage begins
};

DISTRIBUTE_INLINE Attempt::Attempt(const LaunchOptions& options, const SignalWatch& signals,
                                   Wishes& wishes, RestartBudget& restarts, Outputs& outputs)
    : options_(options),
      signals_(signals),
      wishes_(wishes),
      job_(options.job),
      restarts_(restarts),
      outputs_(outputs) {
  outputs_.lose_when_full(wishes.end());
  const int first = options.first_workers > 0 ? options.first_workers : options.job.workers;
  for (int i = 0; i < int(job_.tasks().size()); ++i) {
    const Task& task = job_.tasks()[size_t(i)];
    Slot& slot = slots_.emplace_back();
    slot.ended = (task.type == "worker" && task.index >= first) || task.elsewhere;
    if (!slot.ended)
      slot.task =
          std::make_unique<RunningTask>(options, job_, i, restarts.total(), guard_, outputs_);
  }
}

/// Whether all parameter servers have ended with status 0, as they do when the job is done and all
/// other tasks have left them.
DISTRIBUTE_INLINE bool Attempt::servers_are_done() const {
  return options_.job.parameter_servers > 0 &&
         std::all_of(slots_.begin(), slots_.end(), [](const Slot& slot) {
           return !slot.task || slot.task->task().type != "ps" ||
                  (slot.ended && slot.task->process().poll()->ok());
         });
}

/// A worker that has come back when the servers had ended finds nothing to do.
DISTRIBUTE_INLINE bool Attempt::decides(const Slot& slot) const {
  const Task& task = slot.task->task();
  if (task.type == "chief") return true;
  const bool coordinated = options_.job.chief && options_.job.parameter_servers > 0;
  const bool too_late = slot.restarts > 0 && task.index > 0 && servers_are_done();
  return task.type == "worker" && !coordinated && !too_late;
}

DISTRIBUTE_INLINE bool Attempt::all_ended(bool only_deciding) const {
  return std::all_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
    return (slot.ended && !slot.again) || (only_deciding && !decides(slot));
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
  if (status.ok() || stage_ != Stage::Running) return;
  say(slot.task->report(status));
  if (goes_on_without(slot)) return;
  outputs_.lose_when_full(true);
  status_ = status.shell_status();
  may_start_again_ = may_help(status);
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
    return (!slot.ended || slot.again) && slot.task->task().type == "worker";
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

/// Whether a task that has failed starts again alone, or is not needed.
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
    const int number = int(&slot - slots_.data());
    slot.task.reset();
    slot.task =
        std::make_unique<RunningTask>(options_, job_, number, ++slot.restarts, guard_, outputs_);
    slot.ended = false;
    slot.since = Deadline::Clock::now();
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

DISTRIBUTE_INLINE void report_strays(int count, Outputs& outputs) {
  if (count == 0) return;
  outputs.err().add(own_line(str_cat("ended ", count, " processes that tasks had left behind")));
}

/// Pauses between two starts of the whole job; a signal that ends the job ends the pause.
DISTRIBUTE_INLINE void pause_between_attempts(const LaunchOptions& options,
                                              const SignalWatch& signals, Wishes& wishes,
                                              double seconds) {
  const auto until = Deadline::after_seconds(seconds);
  while (!wishes.end() && !until.passed()) {
    pollfd entry{signals.native(), POLLIN, 0};
    ::poll(&entry, 1, until.left_ms());
    while (const int number = signals.next()) wishes.note(number, options.stop_timeout);
  }
}

/// Waits for the readers of the tasks' output: without limit after a job that succeeded; while they
/// continue to read after one that failed; and until the deadline after a signal, where a second
/// signal ends the wait.
DISTRIBUTE_INLINE void write_the_rest(const LaunchOptions& options, const SignalWatch& signals,
                                      Wishes& wishes, Outputs& outputs, bool failed) {
  constexpr double kShortest = 0.5;  // also where the tasks have taken all of the time
  constexpr int kLookAgainMs = 250;
  const auto shortest = Deadline::after_seconds(kShortest);
  auto stalled = Deadline::after_seconds(options.stop_timeout);
  bool told_again = wishes.kill(), over = false;
  for (size_t left = outputs.waiting_bytes(), now = left; now > 0 && !over;
       now = outputs.waiting_bytes()) {
    if (now < left) stalled = Deadline::after_seconds(options.stop_timeout);
    left = now;
    pollfd entries[] = {{signals.native(), POLLIN, 0}, {outputs.native(), POLLIN, 0}};
    ::poll(entries, 2, kLookAgainMs);
    outputs.forget_changes();
    const bool told = wishes.end();
    while (const int number = signals.next())
      told_again = (wishes.note(number, options.stop_timeout) && told) || told_again;
    const bool late = wishes.end() ? wishes.end_by->passed() : failed && stalled.passed();
    over = (late || told_again) && shortest.passed();
  }
  outputs.give_up();
}

/// Writes one line to stderr, which may itself be the blocked output, and waits for it only a
/// moment.
DISTRIBUTE_INLINE void report_lost_output(const std::string& lost) {
  if (lost.empty()) return;
  Outputs last;
  last.err().add(own_line("not written: " + lost));
  const auto deadline = Deadline::after_seconds(0.5);
  while (last.err().waiting_bytes() > 0 && !deadline.passed()) {
    pollfd entry{last.native(), POLLIN, 0};
    ::poll(&entry, 1, deadline.left_ms());
    last.forget_changes();
  }
}

DISTRIBUTE_INLINE void make_output_directory(const std::string& path) {
  if (path.empty()) return;
  throw_if_error(value_or_throw(io::file_system_for(path))->make_dirs(path));
}

/// Starts the job until it has ended well or for good. Returns its status.
DISTRIBUTE_INLINE int run_attempts(const LaunchOptions& options, const SignalWatch& signals,
                                   Wishes& wishes, Outputs& outputs) {
  RestartBudget restarts(options.max_restarts, options.restart_window_seconds);
  RestartPause pauses;
  const StrayProcesses strays;
  for (;;) {
    const auto began = Deadline::Clock::now();
    Attempt attempt(options, signals, wishes, restarts, outputs);
    const int status = attempt.run();
    report_strays(strays.end_all({attempt.guard_pid()}), outputs);
    if (status == 0 || options.max_restarts == 0 || wishes.end()) return status;
    if (options.min_workers > 0) return status;  // its restarts were its workers'
    if (!attempt.may_start_again()) {
      outputs.err().add(own_line(
          str_cat("no restart: status ", status, " means that the same command would fail again")));
      return status;
    }
    if (!restarts.allows()) return status;
    const std::chrono::duration<double> ran = Deadline::Clock::now() - began;
    const double pause = pauses.next(ran.count());
    outputs.err().add(own_line(restart_text(options, restarts.take(), pause, "")));
    pause_between_attempts(options, signals, wishes, pause);
    if (wishes.end()) return status;
  }
}

}  // namespace distribute::launch_internal

namespace distribute::launch {

DISTRIBUTE_INLINE int launch(const LaunchOptions& options) {
  using namespace launch_internal;
  make_output_directory(options.output_dir);
  const SignalWatch signals({SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ});
  Wishes wishes;
  Outputs outputs;
  const int status = run_attempts(options, signals, wishes, outputs);
  write_the_rest(options, signals, wishes, outputs, status != 0);
  report_lost_output(outputs.lost());
  return status == 0 && outputs.has_failed() ? kExitFailed : status;
}

}  // namespace distribute::launch
