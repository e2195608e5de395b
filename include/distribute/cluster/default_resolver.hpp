#pragma once
/// Which resolver the environment implies.

#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/environment.hpp>
#include <distribute/cluster/flags_cluster_resolver.hpp>

#include <memory>

namespace distribute {

struct ImpliedResolver {                      // a resolver and what implied it
  std::unique_ptr<ClusterResolver> resolver;  // never null
  std::string reason;                         // one sentence: what was seen
  bool master_is_chief = false;               // TF_CONFIG's job `master` is taken for the chief
};

/// The first that is there: the classic flags; TF_CONFIG with a cluster; CLUSTER_SPEC of Vertex AI,
/// which also wins over a TF_CONFIG of one task; SageMaker; horovodrun; torchrun or mpirun inside
/// of a Slurm step; a Slurm step; torchrun; mpirun; a pod of Kubernetes with DISTRIBUTE_REPLICAS.
/// Otherwise TFConfigClusterResolver, whose cluster is then empty: a single process. A job `master`
/// of TF_CONFIG, as of old TFJobs, is taken for the chief, with a line in the log.
/// Throws  FailedPreconditionError or InvalidArgumentError when the environment cannot be read, or
///         speaks of a job and does not describe it whole (check_complete; one of several variables
///         of a launcher is missing), so that a task never trains alone by mistake.
ImpliedResolver default_resolver(const Environment& variables = {}, const ClusterFlags& flags = {});

/// The same without the check that the description is whole, to explain what is there.
ImpliedResolver implied_resolver(const Environment& variables = {}, const ClusterFlags& flags = {});

}  // namespace distribute
