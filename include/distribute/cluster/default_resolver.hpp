#pragma once
/// Finds the resolver that the environment implies; programs can add kinds.

#include <distribute/base/environment.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/cluster_resolvers.hpp>

#include <functional>
#include <memory>
#include <string>

namespace distribute {

/// A kind of resolver and the environments that imply it.
struct ResolverKind {
  std::string name = {};
  /// Order of the check: the kind with the lowest number of those that the environment implies is
  /// used. Vertex AI 10, SageMaker 20, horovodrun 30, Slurm 40, torchrun 50, mpirun 60, Kubernetes
  /// 70.
  int order = 100;
  /// Returns one sentence about the variables found; empty if the environment does not imply this
  /// kind. When a known kind is replaced, an empty function keeps its own, with its order.
  std::function<std::string(const Environment& variables)> implied_by = {};
  std::function<std::unique_ptr<ClusterResolver>(const Environment& variables)> make = {};
};

/// Adds a kind, or replaces the one of the same name. <distribute/platforms.hpp> adds Slurm,
/// Kubernetes, SageMaker and Vertex AI. Thread-safe.
/// Throws  InvalidArgumentError without a name or a function.
void register_cluster_resolver(ResolverKind kind);

struct ImpliedResolver {                      // a resolver and what implied it
  std::unique_ptr<ClusterResolver> resolver;  // never null
  std::string reason;                         // one sentence: what was seen
  bool master_is_chief = false;               // TF_CONFIG's job `master` is taken for the chief
};

/// Returns the first of: the classic flags; TF_CONFIG with a cluster; CLUSTER_SPEC of Vertex AI,
/// which also takes precedence over a TF_CONFIG of one task; SageMaker; horovodrun; torchrun or
/// mpirun inside of a Slurm step; a Slurm step; torchrun; mpirun; a pod of Kubernetes with
/// DISTRIBUTE_REPLICAS. Otherwise it returns TFConfigClusterResolver with an empty cluster: a
/// single process. A job `master` of TF_CONFIG, as in old TFJobs, counts as the chief, with a line
/// in the log.
/// Throws  FailedPreconditionError or InvalidArgumentError when the environment cannot be read, or
///          describes a job incompletely (check_complete; one of several variables of a launcher is
///          missing), so that a task never trains alone by mistake.
ImpliedResolver default_resolver(const Environment& variables = {}, const ClusterFlags& flags = {});

/// Returns the resolver without checking that the description is complete, for explanations.
ImpliedResolver implied_resolver(const Environment& variables = {}, const ClusterFlags& flags = {});

/// Returns the path of the file in which SageMaker describes the hosts of a job.
std::string sagemaker_resource_config(const Environment& variables);
/// Returns what shows that this is a training job of SageMaker, or of its SDK's local mode, which
/// sets TRAINING_JOB_NAME alone; "" elsewhere.
std::string seen_of_sagemaker(const Environment& variables);

}  // namespace distribute
