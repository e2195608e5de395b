#pragma once
/// The resolvers among which default_resolver chooses.

#include <distribute/cluster/cluster_resolver.hpp>
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

}  // namespace distribute
