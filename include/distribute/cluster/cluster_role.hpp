#pragma once
/// Everything a resolver says about this process, in one value.

#include <distribute/cluster/cluster_resolver.hpp>

namespace distribute {

/// What cannot be told is empty, such as the id of a parameter server or the master of a task that
/// the cluster does not have.
struct ClusterRole {
  ClusterSpec cluster;
  std::optional<TaskType> task_type;
  std::optional<int> task_id;
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

}  // namespace distribute
