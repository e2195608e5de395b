#pragma once
/// One task of a job at work, on this machine or through ssh on another one.

#include <distribute/base/config.hpp>
#include <distribute/launch/detail/line_buffer.hpp>
#include <distribute/launch/detail/outputs.hpp>
#include <distribute/launch/launcher.hpp>
#include <distribute/launch/process.hpp>

#include <string>
#include <vector>

namespace distribute::launch_internal {

/// Thread-compatible; neither copied nor moved.
class RunningTask {
 public:
  /// `number` counts the tasks of the job, `attempt` the starts of the job. `outputs` gets its
  /// lines.
  RunningTask(const launch::LaunchOptions& options, const launch::Job& job, int number, int attempt,
              const launch::ProcessGuard& guard, Outputs& outputs);

  launch::Process& process() { return process_; }
  const launch::Task& task() const { return task_; }
  /// "worker 2 (pid 123)", "worker 2 (ssh to node1, pid 123)".
  std::string who() const;
  /// "worker 2 (pid 123) ended with signal 9 (Killed)".
  std::string report(const launch::ExitStatus& status) const;

  /// To the group of a local task; by name through ssh, whose own end would cut the connection.
  void signal(int number);
  /// The streams that read() would read now: for ::poll.
  std::vector<int> readable();
  /// Passes on what the streams hold whose outputs have room, as whole lines behind the task's
  /// name; the log file gets them without it. `last`: the task has ended, all of it is taken.
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
  OutputQueue* const log_;  // null: none
  Stream out_, err_;
};

}  // namespace distribute::launch_internal
