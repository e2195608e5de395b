#pragma once
/// Holds what a resolver tells about this process; the resolver is read once.

#include <distribute/cluster/cluster_resolver.hpp>

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

/// Reads the resolver and applies cluster/multi_worker_util.hpp. If only the number of workers is
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

}  // namespace distribute
