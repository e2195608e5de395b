#pragma once
/// TF_CONFIG in the stricter reading of Estimator: train_and_evaluate trusts what it finds here.

#include <distribute/cluster/cluster_spec.hpp>
#include <distribute/cluster/environment.hpp>
#include <distribute/cluster/task_type.hpp>

namespace distribute {

/// The answers of tf.estimator.RunConfig about the cluster.
struct RunConfigCluster {
  ClusterSpec cluster_spec;  // empty for an evaluator, which is outside of it
  TaskType task_type = TaskType::Worker;
  int task_id = 0;
  std::string master;             // "" alone and for evaluators, else grpc://host:port
  std::string evaluation_master;  // eval_session_master, or ""
  bool is_chief = true;
  int num_ps_replicas = 0;
  int num_worker_replicas = 1;  // with the chief
  /// The chief is 0; then other jobs in the order of their names, parameter servers last. Nothing
  /// for an evaluator.
  std::optional<int> global_id_in_cluster = 0;
  std::string model_dir;
};

/// Reads TF_CONFIG. A cluster must have exactly one chief (or one master, and then no chief and no
/// evaluator), and the task a type of the cluster, or evaluator, and an index. Without a cluster
/// the task is worker 0. `model_dir` must be the same as TF_CONFIG's where both are given. Throws
/// InvalidArgumentError for anything else, and for text that cannot be read. Source
/// tf.estimator.RunConfig, _init_distributed_setting_from_environment_var
RunConfigCluster read_run_config_cluster(const Environment& variables = {},
                                         const std::string& model_dir = "");

}  // namespace distribute
