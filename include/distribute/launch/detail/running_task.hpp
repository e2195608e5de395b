#pragma once
/// A running task of a job, on this machine or through ssh on another one.

#include <distribute/base/config.hpp>
#include <distribute/launch/detail/line_buffer.hpp>
#include <distribute/launch/detail/outputs.hpp>
#include <distribute/launch/launcher.hpp>
#include <distribute/launch/process.hpp>

#include <string>
#include <vector>

namespace distribute::launch_internal {

/// Owns the process of a task. Thread-compatible; neither copied nor moved.
class RunningTask {
 public:
  /// `number` is that of the task in the job, `attempt` that of the job's start. `outputs` gets its
  /// lines.
  RunningTask(const launch::LaunchOptions& options, const launch::Job& job, int number, int attempt,
              const launch::ProcessGuard& guard, Outputs& outputs);

  launch::Process& process() { return process_; }
  const launch::Task& task() const { return task_; }
  /// Returns "worker 2 (pid 123)", "worker 2 (ssh to node1, pid 123)".
  std::string who() const;
  /// Returns "worker 2 (pid 123) ended with signal 9 (Killed)".
  std::string report(const launch::ExitStatus& status) const;

  /// Returns whether ssh has not read its instructions yet, as until it has logged in.
  bool is_connecting() const { return !task_.local && process_.has_unread_input(); }

  /// Sends a signal: to the group of a local task; through ssh by name, as a signal to ssh would
  /// cut the connection.
  void signal(int number);
  /// Returns the streams that read() would read now, for ::poll.
  std::vector<int> readable();
  /// Passes on the contents of the streams whose outputs have room, as whole lines behind the
  /// task's name; the log file gets them without it. With `last` the task has ended, and everything
  /// is read.
  void read(bool last);

 private:
  struct Stream {
    launch::Descriptor& from;
    OutputQueue& to;
    launch::LineBuffer lines, log_lines;
  };
  bool has_room(const Stream& stream) const;
  void read(Stream& stream, bool last);

  const launch::Task& task_;
  launch::Process process_;
  OutputQueue* const log_;  // null: no log file
  Stream out_, err_;
};

}  // namespace distribute::launch_internal
