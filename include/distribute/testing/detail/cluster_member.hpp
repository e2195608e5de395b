#pragma once
/// One task of a ProcessCluster: its process, its output and its exit status.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/launch/detail/line_buffer.hpp>
#include <distribute/launch/launcher.hpp>
#include <distribute/launch/process.hpp>
#include <distribute/testing/detail/cluster_channel.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace distribute::testing_internal {

/// One task of the cluster. The cluster's mutex guards it.
struct ClusterMember {
  explicit ClusterMember(const launch::Task& of)
      : task(&of), out_lines("[" + of.name() + "] "), err_lines("[" + of.name() + "] ") {}

  /// Starts the process. The function adds the number of earlier starts to `options`.
  void start(launch::ProcessOptions options);
  /// Reads the output that is there, and appends whole lines with a prefix to `log`.
  void read(std::string& log, bool last);
  /// Handles messages from the channel: results, errors, arrivals at the barrier.
  void read_channel();
  /// Reaps the process if it has ended. Returns true once, when it notices the end.
  bool look_for_end(std::string& log);
  void leave_barrier();
  bool running() const { return process != nullptr; }
  /// True when the task has ended with a failure that was not expected.
  bool failed() const { return status && !status->ok() && !expected_failure; }
  /// Throws  the failure of this task as join() reports it.
  [[noreturn]] void throw_failure() const;

  const launch::Task* task;
  std::unique_ptr<launch::Process> process;  // null once the process has ended
  std::optional<launch::ExitStatus> status;  // exit status of the last start, once it has ended
  std::string out, err, both, channel_bytes;
  launch::LineBuffer out_lines, err_lines;
  std::optional<std::string> result;
  std::optional<std::pair<StatusCode, std::string>> error;  // error of the task's function
  bool expected_failure = false;
  bool at_barrier = false;
  int starts = 0;
  int end_number = 0;  // place of this end among all ends in the cluster
};

}  // namespace distribute::testing_internal
