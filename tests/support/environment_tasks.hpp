#pragma once
/// The workers of a process cluster, as TF_CONFIG names them to this process.

#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>

inline distribute::ClusterTasks tasks_of_environment() {
  const distribute::TFConfigClusterResolver resolver;
  const distribute::ClusterSpec spec = resolver.cluster_spec();
  distribute::ClusterTasks tasks;
  for (int index : spec.task_indices("worker"))
    tasks.members.push_back({"worker", index, spec.task_address("worker", index)});
  tasks.rank = resolver.task_id().value();
  return tasks;
}
