#pragma once
/// The cluster that a Slurm job step (srun) is.

#include <distribute/base/empty_braces.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/environment.hpp>

#include <vector>

namespace distribute {

struct SlurmClusterResolverOptions {  // options of SlurmClusterResolver
  /// Tasks of each job; empty: all tasks of the step are workers.
  std::map<std::string, int> jobs = {};
  int port_base = 8888;  // of the first task on a node
  /// Nothing: CUDA_VISIBLE_DEVICES, else SLURM_GPUS_ON_NODE, else no GPUs.
  std::optional<int> gpus_per_node = {};
  /// Nothing: gpus_per_node divided by the largest number of tasks on a node.
  std::optional<int> gpus_per_task = {};
  /// The number of tasks on every node, or the hosts with their tasks in rank order; nothing: as
  /// the step says.
  std::optional<int> tasks_per_node = {};
  std::vector<std::pair<std::string, int>> tasks_of_hosts = {};
  std::optional<std::string> rpc_layer = "grpc";
  Environment variables = {};
};

/// Reads the step's environment once, when it is made: SLURM_PROCID, and where the options leave
/// them open SLURM_STEP_NUM_TASKS, SLURM_STEP_NODELIST and SLURM_STEP_TASKS_PER_NODE. Tasks get
/// host:port_base + k; ranks go to jobs in the order of their names.
///
/// Hosts keep the order of the node list, which is the order of Slurm's ranks. TensorFlow sorts
/// them as strings (n10 before n2), so its addresses belong to other ranks where names are not
/// padded with zeros. TensorFlow also sets CUDA_VISIBLE_DEVICES; visible_gpus() says what it would
/// hold, and the environment stays as it is.
/// Throws  FailedPreconditionError outside of a step, for more GPUs or other numbers of tasks than
///         Slurm has given, and when ranks are not dealt node by node (srun --distribution=cyclic).
/// Source  tf.distribute.cluster_resolver.SlurmClusterResolver
class SlurmClusterResolver : public ClusterResolver {
 public:
  explicit SlurmClusterResolver(EmptyBraces) : SlurmClusterResolver() {}
  explicit SlurmClusterResolver(SlurmClusterResolverOptions options = {});
  DISTRIBUTE_INLINE ClusterSpec cluster_spec() const override;

  /// Job and index of this process.
  std::pair<TaskType, int> get_task_info() const;
  /// The GPUs of this task on its node, such as "2,3".
  std::string visible_gpus() const;

 protected:
  std::optional<TaskType> find_task_type() const override { return get_task_info().first; }
  std::optional<int> find_task_id() const override { return get_task_info().second; }
  std::map<std::string, int> find_accelerators() const override {
    return {{"GPU", gpus_per_task_}};
  }

 private:
  void read_hosts(const SlurmClusterResolverOptions& options);
  void read_gpus(const SlurmClusterResolverOptions& options);
  void check_tasks() const;
  void check_placement(const Environment& variables) const;
  /// Number of the node and of the task on it.
  std::pair<int, int> place_of_rank() const;

  int rank_ = 0;
  int port_base_;
  int gpus_per_task_ = 0;
  std::map<std::string, int> jobs_;
  std::vector<std::pair<std::string, int>> hosts_;  // in rank order, with their tasks
};

}  // namespace distribute
