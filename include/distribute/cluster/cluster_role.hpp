#pragma once
/// Everything a resolver says about this process, in one value that is read once.

#include <distribute/cluster/cluster_resolver.hpp>

namespace distribute {

/// What strategies, `hvd::init` and `distribute cluster` take in place of the environment.
/// What cannot be told is empty, such as the id of a parameter server or the master of a task that
/// the cluster does not have.
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
  std::optional<std::string> leader;  // of collectives
  std::optional<bool> should_save_checkpoint;
  std::string problem;  // why is_chief is empty

  /// One JSON object with these members, without `problem`; empty ones are null.
  std::string to_json() const;
};

/// Asks the resolver and cluster/multi_worker_util.hpp. Where only the number of workers is known
/// (ClusterResolver::world_size), worker `task_id` of that many.
/// Throws  InvalidArgumentError or FailedPreconditionError when cluster, type or id of the task
///         cannot be read.
ClusterRole cluster_role(const ClusterResolver& resolver);

namespace cluster_internal {
/// The same without `rpc_layer` and `master`, for which some resolvers ask their platform again.
ClusterRole role_to_join(const ClusterResolver& resolver);
}  // namespace cluster_internal

/// For code that is about to join the cluster.
/// Throws  InvalidArgumentError with `role.incomplete`.
void check_complete(const ClusterRole& role);

}  // namespace distribute
