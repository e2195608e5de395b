#pragma once
#include <distribute/base/exit_status.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/platforms/detail/registration.hpp>
#include <distribute/platforms/job_paths.hpp>
#include <distribute/platforms/kubernetes_cluster_resolver.hpp>
#include <distribute/platforms/sagemaker_cluster_resolver.hpp>
#include <distribute/platforms/slurm_cluster_resolver.hpp>
#include <distribute/platforms/vertex_cluster_resolver.hpp>

namespace distribute::cluster_internal {

template <typename Resolver, typename Options>
void register_platform(const char* name) {
  register_cluster_resolver({.name = name, .make = [](const Environment& variables) {
                               return std::make_unique<Resolver>(Options{.variables = variables});
                             }});
}

DISTRIBUTE_INLINE bool register_platforms() {
  register_platform<VertexClusterResolver, VertexClusterResolverOptions>("Vertex AI");
  register_platform<SageMakerClusterResolver, SageMakerClusterResolverOptions>("SageMaker");
  register_platform<SlurmClusterResolver, SlurmClusterResolverOptions>("Slurm");
  register_platform<KubernetesClusterResolver, KubernetesClusterResolverOptions>("Kubernetes");
  set_failure_listener([](const std::string& reason) { write_job_failure(reason); });
  return true;
}

}  // namespace distribute::cluster_internal
