#pragma once
/// Which resolver the environment implies, and how a program adds kinds of its own.

#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/cluster_resolvers.hpp>
#include <distribute/cluster/environment.hpp>

#include <functional>
#include <memory>
#include <string>

namespace distribute {

/// A kind of resolver and the environments that imply it.
struct ResolverKind {
  std::string name = {};
  /// The kind with the lowest number of those that the environment implies is taken. Vertex AI 10,
  /// SageMaker 20, horovodrun 30, Slurm 40, torchrun 50, mpirun 60, Kubernetes 70.
  int order = 100;
  /// One sentence about what was seen; empty where the environment does not imply this kind. A kind
  /// that is known may leave it out and keeps its own, with its order.
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
