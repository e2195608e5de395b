#pragma once
/// The cluster that the classic flags of TensorFlow 1 programs describe.

#include <distribute/cluster/cluster_resolver.hpp>

namespace distribute {

/// --job_name, --task_index, --ps_hosts, --worker_hosts, ...: hosts are host:port with commas.
struct ClusterFlags {
  std::string job_name = {};
  std::optional<int> task_index = {};
  std::string ps_hosts = {};
  std::string worker_hosts = {};
  std::string chief_hosts = {};
  std::string evaluator_hosts = {};

  /// Whether any of them was given.
  bool any() const;
};

/// Throws  InvalidArgumentError, which names the flag, for a job without hosts, an index out of
///         range, an address that is not host:port, and a name or index that is missing.
/// Source  the trainers of TensorFlow's "Distributed TensorFlow" guide
class FlagsClusterResolver : public ClusterResolver {
 public:
  explicit FlagsClusterResolver(const ClusterFlags& flags,
                                std::optional<std::string> rpc_layer = {});
  ClusterSpec cluster_spec() const override { return cluster_spec_; }

 protected:
  std::string find_master(const std::optional<TaskType>& task_type, std::optional<int> task_id,
                          const std::optional<std::string>& rpc_layer) const override {
    return master_of_cluster(task_type, task_id, rpc_layer);
  }

 private:
  ClusterSpec cluster_spec_;
};

}  // namespace distribute
