#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/exit_status.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/launch/detail/attempt.hpp>
#include <distribute/launch/detail/stray_processes.hpp>
#include <distribute/launch/launcher.hpp>

#include <chrono>
#include <csignal>
#include <string>

#include <poll.h>

namespace distribute::launch_internal {

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
