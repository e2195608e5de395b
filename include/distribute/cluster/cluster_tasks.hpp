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

  /// "worker 2".
  std::string name() const;
  /// "worker 2 (10.0.0.3:2222)".
  std::string text() const;
};

/// All tasks, the leader first, and which one this process is. All tasks of a job must have the
/// same list. Either all addresses are known, or the leader's alone (torchrun, MPI): the others are
/// empty then, and are announced when the tasks join.
struct ClusterTasks {
  std::vector<ClusterMember> members;
  int rank = 0;

  /// Number of tasks, and which one this is.
  int size() const { return int(members.size()); }
  const ClusterMember& self() const { return members[size_t(rank)]; }
};

/// Which of the training cluster's tasks a process is.
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

/// A short text that is equal for equal lists of tasks, to tell jobs apart: "3 tasks led by
/// worker 0 at 10.0.0.1:2222, 5f3a...".
std::string job_fingerprint(const ClusterTasks& tasks);

}  // namespace distribute
