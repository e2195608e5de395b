#pragma once
/// Facts that follow from a task's position in its cluster: chief, number of workers, leader.

#include <distribute/cluster/cluster_spec.hpp>

#include <optional>
#include <string>

/// All functions throw InvalidArgumentError as validate_cluster_spec does. A task without a type
/// belongs to no job; one with a type needs an id.
/// Source  tensorflow/python/distribute/multi_worker_util.py
namespace distribute::multi_worker_util {

/// Checks, in this order: only jobs chief, worker, ps and evaluator; the task's type is one of
/// these; its job is in the cluster (an evaluator's need not be); at most one chief; at most one
/// evaluator; the id is less than the number of tasks of the job. Also that it is not negative.
/// Throws  InvalidArgumentError
void validate_cluster_spec(const ClusterSpec& cluster_spec,
                           const std::optional<TaskType>& task_type, std::optional<int> task_id);

/// Whether the task is the chief, an evaluator, or worker 0 in a cluster without a chief.
bool is_chief(const ClusterSpec& cluster_spec, const std::optional<TaskType>& task_type,
              std::optional<int> task_id);

/// Returns a number from 0 to worker_count() - 1: the chief first, then the workers.
/// Throws  also for a parameter server, and without a type.
int id_in_cluster(const ClusterSpec& cluster_spec, const std::optional<TaskType>& task_type,
                  std::optional<int> task_id);

/// Returns the number of workers with the chief; for an evaluator, the number of evaluators.
/// Throws  also for a parameter server, without a type, and for an evaluator outside the cluster.
int worker_count(const ClusterSpec& cluster_spec, const std::optional<TaskType>& task_type);

/// Returns the task that leads collectives, as "/job:worker/replica:0/task:0"; "" without a cluster
/// and for an evaluator.
/// Throws  also for a cluster with neither chief nor worker.
std::string collective_leader(const ClusterSpec& cluster_spec,
                              const std::optional<TaskType>& task_type, std::optional<int> task_id);

/// Returns the task that runs the coordination service: parameter server 0, else the chief, else
/// worker 0.
/// Throws  InvalidArgumentError for a cluster without such a task.
std::string coordination_leader(const ClusterSpec& cluster_spec);

/// Whether this task writes checkpoints that all may read: the chief, and a process without a
/// cluster.
bool should_save_checkpoint(const ClusterSpec& cluster_spec,
                            const std::optional<TaskType>& task_type, std::optional<int> task_id);

}  // namespace distribute::multi_worker_util
