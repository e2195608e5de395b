#pragma once
/// One start of all tasks of a job, and what its user asks for by signals meanwhile.

#include <distribute/base/config.hpp>
#include <distribute/launch/detail/outputs.hpp>
#include <distribute/launch/detail/process_guard.hpp>
#include <distribute/launch/detail/restart_budget.hpp>
#include <distribute/launch/detail/running_task.hpp>
#include <distribute/launch/detail/signal_watch.hpp>
#include <distribute/launch/launcher.hpp>
#include <distribute/net/deadline.hpp>

#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace distribute::launch_internal {

using launch::ExitStatus;
using launch::Job;
using launch::LaunchOptions;
using launch::ProcessGuard;
using launch::SignalWatch;
using launch::Task;
using net::Deadline;

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

/// Returns a line of the launcher itself, in the format of the log.
std::string own_line(const std::string& text);
/// Returns "restart 2 of 5 in 600 s: worker 1, after a pause of 0.8 s".
std::string restart_text(const LaunchOptions& options, int number, double pause,
                         const std::string& whose);

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
    const Task* what;
    std::unique_ptr<RunningTask> task = {};
    bool ended = true;                   // or not started
    bool waits = false;                  // for its turn to connect to its host
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
  /// Returns the number of connections that are being made, by host.
  std::map<std::string, int> connecting() const;
  void start(Slot& slot, int attempt);
  void start_waiting();
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
  const int first_attempt_;  // number of this start among those of the job
  Outputs& outputs_;
  int status_ = 0;  // of the first task that failed
  bool may_start_again_ = true;
  Stage stage_ = Stage::Running;
  std::optional<Deadline> next_;  // when the next stage begins
};

}  // namespace distribute::launch_internal
