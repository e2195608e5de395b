#pragma once
/// Describes the cluster of a Slurm job.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/cluster/cluster_resolver.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace distribute {

/// The largest number of hosts, or of tasks-per-node counts, in a list.
inline constexpr int kMaxSlurmHosts = 100'000;

/// Expands a list of hosts: "n[1-2],m5,o[3-4,6]" gives n1, n2, m5, o3, o4, o6. Ranges keep the
/// width of their first number (n[08-10] gives n08, n09, n10). A name may have several brackets
/// (rack[0-1]node[1-2]; the left one changes slowest) and text after them. Order and repeated names
/// are kept.
/// Throws  InvalidArgumentError ("Invalid hostlist format") that says what is wrong.
/// Source  expand_hostlist of TensorFlow's slurm_cluster_resolver.py, which allows one bracket at
///         the end; man scontrol, "show hostnames"
std::vector<std::string> expand_hostlist(std::string_view hostlist);

/// Expands "3(x2),2,1" to 3, 3, 2, 1.
/// Throws  InvalidArgumentError ("Invalid tasks-per-node list format").
std::vector<int> expand_tasks_per_node(std::string_view tasks_per_node);

struct SlurmClusterResolverOptions {  // options of SlurmClusterResolver
  /// The number of tasks of each job; empty: all tasks of the step are workers.
  std::map<std::string, int> jobs = {};
  int port_base = 8888;  // port of the first task on a node
  /// Unset: the number in CUDA_VISIBLE_DEVICES, else SLURM_GPUS_ON_NODE, else 0.
  std::optional<int> gpus_per_node = {};
  /// Unset: gpus_per_node divided by the largest number of tasks on a node.
  std::optional<int> gpus_per_task = {};
  /// The number of tasks on every node, or the hosts with their tasks in rank order. Unset: the
  /// step's values.
  std::optional<int> tasks_per_node = {};
  std::vector<std::pair<std::string, int>> tasks_of_hosts = {};
  std::optional<std::string> rpc_layer = "grpc";
  Environment variables = {};
};

/// Reads the step's environment once, when it is made: SLURM_PROCID and, for unset options,
/// SLURM_STEP_NUM_TASKS, SLURM_STEP_NODELIST and SLURM_STEP_TASKS_PER_NODE. Tasks get the addresses
/// host:port_base + k; ranks are assigned to jobs in the order of the jobs' names.
///
/// Hosts keep the order of the node list, which is the order of Slurm's ranks. TensorFlow sorts
/// them as strings (n10 before n2), so its addresses belong to other ranks where names are not
/// padded with zeros. TensorFlow also sets CUDA_VISIBLE_DEVICES; visible_gpus() says what it would
/// hold, and the environment stays as it is.
/// Throws  FailedPreconditionError outside of a step, for more GPUs or other numbers of tasks than
///         Slurm has allocated, and when ranks are not assigned node by node (srun
///         --distribution=cyclic).
/// Source  tf.distribute.cluster_resolver.SlurmClusterResolver
class SlurmClusterResolver : public ClusterResolver {
 public:
  explicit SlurmClusterResolver(EmptyBraces) : SlurmClusterResolver() {}
  explicit SlurmClusterResolver(SlurmClusterResolverOptions options = {});
  DISTRIBUTE_INLINE ClusterSpec cluster_spec() const override;

  /// Job and index of this process.
  std::pair<TaskType, int> get_task_info() const;
  /// Returns the GPUs of this task on its node, such as "2,3".
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
  /// Index of this rank's node, and of its task on that node.
  std::pair<int, int> place_of_rank() const;

  int rank_ = 0;
  int port_base_;
  int gpus_per_task_ = 0;
  std::map<std::string, int> jobs_;
  /// in rank order, with the number of tasks on each
  std::vector<std::pair<std::string, int>> hosts_;
};

}  // namespace distribute
