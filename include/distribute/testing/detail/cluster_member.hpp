#pragma once
/// One task of a ProcessCluster: its process, what it has said, how it ended.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/launch/detail/line_buffer.hpp>
#include <distribute/launch/job.hpp>
#include <distribute/launch/process.hpp>
#include <distribute/testing/detail/cluster_channel.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace distribute::testing_internal {

/// Guarded by the cluster's mutex.
struct ClusterMember {
  explicit ClusterMember(const launch::Task& of)
      : task(&of), out_lines("[" + of.name() + "] "), err_lines("[" + of.name() + "] ") {}

  /// Starts the process; `options` are complete but for the number of starts.
  void start(launch::ProcessOptions options);
  /// Reads what there is, and appends whole lines with prefix to `log`.
  void read(std::string& log, bool last);
  /// Handles what came over the channel: results, errors, arrivals at the barrier.
  void read_channel();
  /// Reaps the process if it has ended. True at the moment of its end.
  bool look_for_end(std::string& log);
  void leave_barrier();
  bool running() const { return process != nullptr; }
  /// Ended with a failure that was not expected.
  bool failed() const { return status && !status->ok() && !expected_failure; }
  /// Throws  what join() does.
  [[noreturn]] void throw_failure() const;

  const launch::Task* task;
  std::unique_ptr<launch::Process> process;  // null: ended
  std::optional<launch::ExitStatus> status;  // of the last start, once it has ended
  std::string out, err, both, channel_bytes;
  launch::LineBuffer out_lines, err_lines;
  std::optional<std::string> result;
  std::optional<std::pair<StatusCode, std::string>> error;  // of the function
  bool expected_failure = false;
  bool at_barrier = false;
  int starts = 0;
  int end_number = 0;  // counts the ends in the cluster
};

}  // namespace distribute::testing_internal
