#pragma once
/// The cluster that a SageMaker training job is: all hosts are workers.

#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/environment.hpp>

#include <vector>

namespace distribute {

struct SageMakerClusterResolverOptions {  // options of SageMakerClusterResolver
  int port = 2223;
  std::optional<TaskType> task_type = {};
  std::optional<int> task_id = {};
  std::optional<std::string> rpc_layer = {};
  std::string environment = {};
  /// Read where SM_HOSTS is missing, that is in containers without SageMaker's toolkit; "":
  /// input/config/resourceconfig.json below SAGEMAKER_BASE_DIR, or else below /opt/ml.
  std::string resource_config = {};
  Environment variables = {};
};

/// Reads SM_HOSTS and SM_CURRENT_HOST, else the file, anew for every answer. Workers are the hosts
/// in the order of their names; the cluster is empty when this host is not among them.
/// Throws  FailedPreconditionError ("Not a SageMaker Environment") without variables and file;
///         InvalidArgumentError for JSON that cannot be read.
/// Source  tf.distribute.cluster_resolver.SageMakerClusterResolver
class SageMakerClusterResolver : public ClusterResolver {
 public:
  explicit SageMakerClusterResolver(EmptyBraces) : SageMakerClusterResolver() {}
  explicit SageMakerClusterResolver(SageMakerClusterResolverOptions options = {});
  DISTRIBUTE_INLINE ClusterSpec cluster_spec() const override;
  /// This host is not in the list of hosts.
  DISTRIBUTE_INLINE std::string incomplete_because() const override;

 protected:
  DISTRIBUTE_INLINE std::optional<TaskType> find_task_type() const override;
  DISTRIBUTE_INLINE std::optional<int> find_task_id() const override;
  std::string find_master(const std::optional<TaskType>& task_type, std::optional<int> task_id,
                          const std::optional<std::string>& rpc_layer) const override {
    return master_of_cluster(task_type, task_id, rpc_layer);
  }

 private:
  struct Hosts {
    std::vector<std::string> names;  // sorted
    std::string current;             // name of this host
    std::optional<int> own;          // its place
  };
  Hosts hosts() const;

  int port_;
  std::string resource_config_;
  Environment variables_;
};

}  // namespace distribute
