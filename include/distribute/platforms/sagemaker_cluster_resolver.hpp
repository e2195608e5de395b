#pragma once
/// Describes the cluster of a SageMaker training job, whose hosts are all workers.

#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/cluster/cluster_resolver.hpp>

#include <vector>

namespace distribute {

struct SageMakerClusterResolverOptions {  // options of SageMakerClusterResolver
  int port = 2223;
  std::optional<TaskType> task_type = {};
  std::optional<int> task_id = {};
  std::optional<std::string> rpc_layer = {};
  std::string environment = {};
  /// The file that describes the cluster where SM_HOSTS is not set, as in containers without the
  /// toolkit of SageMaker. "" means input/config/resourceconfig.json below SAGEMAKER_BASE_DIR, or
  /// else below /opt/ml.
  std::string resource_config = {};
  Environment variables = {};
};

/// Every answer reads SM_HOSTS and SM_CURRENT_HOST, or else the file, again. Workers are the hosts
/// sorted by name. The cluster is empty when this host is not among them.
/// Throws  FailedPreconditionError ("Not a SageMaker Environment") without variables and file;
///         InvalidArgumentError for JSON that cannot be read.
/// Source  tf.distribute.cluster_resolver.SageMakerClusterResolver
class SageMakerClusterResolver : public ClusterResolver {
 public:
  explicit SageMakerClusterResolver(EmptyBraces) : SageMakerClusterResolver() {}
  explicit SageMakerClusterResolver(SageMakerClusterResolverOptions options = {});
  DISTRIBUTE_INLINE ClusterSpec cluster_spec() const override;
  /// Says that this host is not in the list of hosts, or that the job asks for more processes on
  /// each host than the one that was started.
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
    std::optional<int> own;          // index of this host in `names`
  };
  Hosts hosts() const;

  int port_;
  std::string resource_config_;
  Environment variables_;
};

}  // namespace distribute
