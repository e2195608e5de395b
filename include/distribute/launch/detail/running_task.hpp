#pragma once
/// One task of a job at work, on this machine or through ssh on another one.

#include <distribute/base/config.hpp>
#include <distribute/launch/detail/line_buffer.hpp>
#include <distribute/launch/launcher.hpp>
#include <distribute/launch/process.hpp>

#include <string>

namespace distribute::launch_internal {

/// What is new on a task's two streams, as whole lines with prefix.
struct TaskLines {
  std::string out, err;
};

/// Thread-compatible; neither copied nor moved.
class RunningTask {
 public:
  /// `number` counts the tasks of the job, `attempt` the starts of the job.
  RunningTask(const launch::LaunchOptions& options, const launch::Job& job, int number, int attempt,
              const launch::ProcessGuard& guard);

  launch::Process& process() { return process_; }
  const launch::Task& task() const { return task_; }
  /// "worker 2 (pid 123)", "worker 2 (ssh to node1, pid 123)".
  std::string who() const;
  /// "worker 2 (pid 123) ended with signal 9 (Killed)".
  std::string report(const launch::ExitStatus& status) const;

  /// To the group of a local task; by name through ssh, whose own end would cut the connection.
  void signal(int number);
  /// Reads what there is now; the log file gets it too. `last`: the task has ended.
  TaskLines read(bool last);

 private:
  const launch::Task& task_;
  launch::Process process_;
  launch::LineBuffer out_, err_;          // with prefix
  launch::LineBuffer log_out_, log_err_;  // without
  launch::Descriptor log_;
};

}  // namespace distribute::launch_internal
