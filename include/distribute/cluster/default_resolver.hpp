#pragma once
/// Which resolver the environment implies.

#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/environment.hpp>
#include <distribute/cluster/flags_cluster_resolver.hpp>

#include <memory>

namespace distribute {

struct ImpliedResolver {
  std::unique_ptr<ClusterResolver> resolver;  // never null
  std::string reason;                         // one sentence: what was seen
};

/// The first that is there: the classic flags; TF_CONFIG with a cluster; CLUSTER_SPEC of Vertex AI,
/// which also wins over a TF_CONFIG of one task; SageMaker; horovodrun; torchrun or mpirun inside
/// of a Slurm step; a Slurm step; torchrun; mpirun; a pod of Kubernetes with DISTRIBUTE_REPLICAS.
/// Otherwise TFConfigClusterResolver, whose cluster is then empty: a single process. Throws
/// FailedPreconditionError or InvalidArgumentError when flags or a Slurm step do not make a
///         cluster. The other resolvers read when they are asked.
ImpliedResolver default_resolver(const Environment& variables = {}, const ClusterFlags& flags = {});

}  // namespace distribute
