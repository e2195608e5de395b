#pragma once
/// How far a task gets on its way to the others before they form a job: name, connection, token.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_tasks.hpp>
#include <distribute/net/deadline.hpp>

#include <string>
#include <vector>

namespace distribute {

/// The way to one task.
struct TaskWay {
  std::string step = {};  // that failed: "name", "connect" or "handshake"; empty: none
  std::string problem = {};
  double name_seconds = 0;  // that the resolver took
  bool reached() const { return step.empty(); }
};

/// Opens this task's port, says hello to every other task until it answers or `deadline` has
/// passed, and lets them do the same here. By rank; this task's own way is empty. All tasks call it
/// and then join a ClusterRuntime, which answers those that have not reached this task yet.
/// Throws  FailedPreconditionError when the port cannot be opened.
std::vector<TaskWay> find_task_ways(const ClusterTasks& tasks, const ClusterOptions& options,
                                    net::Deadline deadline);

}  // namespace distribute
