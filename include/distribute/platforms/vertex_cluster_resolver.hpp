#pragma once
/// Describes the cluster in Vertex AI's variable CLUSTER_SPEC.

#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/cluster/cluster_resolver.hpp>

namespace distribute {

struct VertexClusterResolverOptions {  // options of VertexClusterResolver
  std::optional<std::string> rpc_layer = {};
  Environment variables = {};
};

/// CLUSTER_SPEC has the form of TF_CONFIG with worker pools as jobs: workerpool0 is the chief, 1
/// the workers, 2 the parameter servers and 3 the evaluators, which stay outside of the cluster.
/// Jobs named chief, master, worker, ps and evaluator are taken as they are.
/// Throws  FailedPreconditionError when the variable is not set; InvalidArgumentError for text that
///         cannot be read, and when two pools are the same job.
class VertexClusterResolver : public ClusterResolver {
 public:
  explicit VertexClusterResolver(EmptyBraces) : VertexClusterResolver() {}
  explicit VertexClusterResolver(VertexClusterResolverOptions options = {});
  DISTRIBUTE_INLINE ClusterSpec cluster_spec() const override;
  /// Says that CLUSTER_SPEC has no worker pools, if that is so.
  DISTRIBUTE_INLINE std::string incomplete_because() const override;

 protected:
  DISTRIBUTE_INLINE std::optional<TaskType> find_task_type() const override;
  DISTRIBUTE_INLINE std::optional<int> find_task_id() const override;
  std::string find_master(const std::optional<TaskType>& task_type, std::optional<int> task_id,
                          const std::optional<std::string>& rpc_layer) const override {
    return master_of_cluster(task_type, task_id, rpc_layer);
  }

 private:
  Environment variables_;
};

}  // namespace distribute
