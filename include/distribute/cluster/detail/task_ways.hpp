#pragma once
/// Checks how far a task gets in reaching the others before they form a job: name, connection,
/// token.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/net/deadline.hpp>

#include <string>
#include <vector>

namespace distribute {

/// Result for one task.
struct TaskWay {
  std::string step = {};  // that failed: "name", "connect" or "handshake"; empty: none
  std::string problem = {};
  double name_seconds = 0;  // time that the resolver took
  bool reached() const { return step.empty(); }
};

/// Opens this task's port, connects to every other task until it answers or `deadline` has passed,
/// and lets them do the same here. Returns results by rank; that of this task is empty. All tasks
/// call it and then join a ClusterRuntime, which answers those that have not reached this task yet.
/// Throws  FailedPreconditionError when the port cannot be opened.
std::vector<TaskWay> find_task_ways(const ClusterTasks& tasks, const ClusterOptions& options,
                                    net::Deadline deadline);

}  // namespace distribute
