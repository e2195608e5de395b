#pragma once
/// What a resolver tells about this process, which is read once, and the tasks of its job in rank
/// order.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_resolver.hpp>

#include <string>
#include <vector>

namespace distribute {

/// Role of this process in its cluster; strategies, `hvd::init` and `distribute cluster` use it in
/// place of the environment. Unknown values are empty, such as the id of a parameter server or the
/// master of a task that the cluster does not have.
struct ClusterRole {
  ClusterSpec cluster;
  std::optional<TaskType> task_type;
  std::optional<int> task_id;
  std::optional<int> world_size;  // of ClusterResolver::world_size
  std::string incomplete;         // of ClusterResolver::incomplete_because
  std::optional<std::string> rpc_layer;
  std::optional<std::string> master;
  std::optional<bool> is_chief;
  std::optional<int> id_in_cluster;
  std::optional<int> worker_count;
  std::optional<std::string> leader;  // the task that leads collectives
  std::optional<bool> should_save_checkpoint;
  std::string problem;  // why is_chief is empty

  /// Returns one JSON object with these members, without `problem`; empty ones are null.
  std::string to_json() const;
};

/// Reads the resolver and applies cluster/cluster_spec.hpp. If only the number of workers is
/// known (ClusterResolver::world_size), the role is worker `task_id` of that number.
/// Throws  InvalidArgumentError or FailedPreconditionError when cluster, type or id of the task
///          cannot be read.
ClusterRole cluster_role(const ClusterResolver& resolver);

namespace cluster_internal {
/// Returns the role without `rpc_layer` and `master`, for which some resolvers query their
/// platform.
ClusterRole role_to_join(const ClusterResolver& resolver);
}  // namespace cluster_internal

/// Checks a role before its cluster is joined.
/// Throws  InvalidArgumentError with `role.incomplete`.
void check_complete(const ClusterRole& role);

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
