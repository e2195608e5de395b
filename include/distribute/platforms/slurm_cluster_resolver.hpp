#pragma once
/// The cluster resolver for jobs of Slurm.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/environment.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace distribute {

/// The most hosts, or tasks-per-node counts, that a list may name.
inline constexpr int kMaxSlurmHosts = 100'000;

/// "n[1-2],m5,o[3-4,6]" -> n1, n2, m5, o3, o4, o6. Ranges keep the width of their first number
/// (n[08-10] -> n08, n09, n10); a name may have several brackets (rack[0-1]node[1-2], the left one
/// slowest) and text behind them. Order is kept, and nothing is removed.
/// Throws  InvalidArgumentError ("Invalid hostlist format") that says what is wrong.
/// Source  expand_hostlist of TensorFlow's slurm_cluster_resolver.py, which allows one bracket at
///         the end; man scontrol, "show hostnames"
std::vector<std::string> expand_hostlist(std::string_view hostlist);

/// "3(x2),2,1" -> 3, 3, 2, 1.
/// Throws  InvalidArgumentError ("Invalid tasks-per-node list format").
std::vector<int> expand_tasks_per_node(std::string_view tasks_per_node);

struct SlurmClusterResolverOptions {  // options of SlurmClusterResolver
  /// Tasks of each job; empty: all tasks of the step are workers.
  std::map<std::string, int> jobs = {};
  int port_base = 8888;  // of the first task on a node
  /// Without a value CUDA_VISIBLE_DEVICES counts, else SLURM_GPUS_ON_NODE, else there are no GPUs.
  std::optional<int> gpus_per_node = {};
  /// Without a value it is gpus_per_node divided by the largest number of tasks on a node.
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
