#pragma once
/// The tasks of a job as plain data, in rank order.

#include <distribute/base/config.hpp>

#include <string>
#include <vector>

namespace distribute {

struct ClusterRole;

/// One task: ("worker", 2) at "10.0.0.3:2222".
struct ClusterMember {
  std::string type;
  int index = 0;
  std::string address;

  /// Returns "worker 2".
  std::string name() const;
  /// Returns "worker 2 (10.0.0.3:2222)".
  std::string text() const;
};

/// All tasks, the leader first, and the number of this process. All tasks of a job must have the
/// same list. Either all addresses are known, or only the leader's (torchrun, MPI): the others are
/// then empty and exchanged when the tasks join.
struct ClusterTasks {
  std::vector<ClusterMember> members;
  int rank = 0;

  /// Returns the number of tasks; self() this task.
  int size() const { return int(members.size()); }
  const ClusterMember& self() const { return members[size_t(rank)]; }
};

/// Position of a process in the training cluster.
struct ClusterPlace {
  ClusterTasks tasks;  // of the training cluster: chief, then workers
  std::string task_type = "worker";
  int task_id = 0;
  bool is_chief = true;
  bool alone = true;  // no cluster, or an evaluator
};

/// Throws  InvalidArgumentError when the cluster does not say which task this process is.
ClusterPlace cluster_place(const ClusterRole& role);

/// Throws  InvalidArgumentError for a rank outside the list, a task or an address that occurs
///         twice, an address that cannot be read, and a job of several tasks whose leader has none.
void check_tasks(const ClusterTasks& tasks);

/// Returns a short text that is equal for equal lists of tasks, to distinguish jobs: "3 tasks led
/// by worker 0 at 10.0.0.1:2222, 5f3a...".
std::string job_fingerprint(const ClusterTasks& tasks);

}  // namespace distribute
