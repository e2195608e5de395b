#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/cluster/kubernetes_cluster_resolver.hpp>
#include <distribute/cluster/open_mpi_cluster_resolver.hpp>
#include <distribute/cluster/sagemaker_cluster_resolver.hpp>
#include <distribute/cluster/slurm_cluster_resolver.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/cluster/torchrun_cluster_resolver.hpp>
#include <distribute/cluster/vertex_cluster_resolver.hpp>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE bool has_all(const Environment& variables,
                               std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (!variables.has(name)) return false;
  return true;
}

/// Number of tasks that TF_CONFIG names; 2 for one that cannot be read, so that its resolver is
/// chosen and says why.
DISTRIBUTE_INLINE int tasks_of_tf_config(const Environment& variables) {
  try {
    int count = 0;
    const ClusterSpec spec = TFConfigClusterResolver({.variables = variables}).cluster_spec();
    for (const auto& [job, tasks] : spec.as_dict()) count += tasks.size();
    return spec && count == 0 ? 1 : count;  // a TFJob with dynamic workers may show empty jobs
  } catch (const Error&) {
    return 2;
  }
}

template <typename Resolver, typename Options>
ImpliedResolver implied(Options options, const char* reason) {
  return {std::make_unique<Resolver>(std::move(options)), reason};
}

DISTRIBUTE_INLINE ImpliedResolver implied_by_launcher(const Environment& variables) {
  const bool torchrun = has_all(variables, {"RANK", "WORLD_SIZE", "MASTER_ADDR"}) ||
                        has_all(variables, {"PET_NNODES", "PET_NODE_RANK", "PET_MASTER_ADDR"});
  const bool mpirun = has_all(variables, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"});
  const bool other_mpi = has_all(variables, {"PMI_RANK", "PMI_SIZE"}) ||
                         has_all(variables, {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"});
  const bool horovod = has_all(variables, {"HOROVOD_RANK", "HOROVOD_SIZE"});
  const bool slurm =
      has_all(variables, {"SLURM_PROCID", "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE"});
  if (horovod)
    return implied<OpenMpiClusterResolver>(OpenMpiClusterResolverOptions{.variables = variables},
                                           "horovodrun's variables (HOROVOD_RANK)");
  // srun sets PMI_RANK itself; the variables of torchrun and of Open MPI's mpirun come from them.
  const bool inner = (torchrun && variables.has("TORCHELASTIC_RUN_ID")) || mpirun;
  if (slurm && !inner)
    return implied<SlurmClusterResolver>(SlurmClusterResolverOptions{.variables = variables},
                                         "a job step of Slurm (SLURM_PROCID)");
  if (torchrun)
    return implied<TorchrunClusterResolver>(TorchrunClusterResolverOptions{.variables = variables},
                                            "torchrun's variables (RANK or PET_NODE_RANK)");
  if (mpirun || other_mpi)
    return implied<OpenMpiClusterResolver>(OpenMpiClusterResolverOptions{.variables = variables},
                                           "mpirun's variables (rank and size)");
  if (has_all(variables, {"DISTRIBUTE_REPLICAS", "KUBERNETES_SERVICE_HOST"}))
    return implied<KubernetesClusterResolver>(
        KubernetesClusterResolverOptions{.variables = variables},
        "a pod of Kubernetes (DISTRIBUTE_REPLICAS)");
  return implied<TFConfigClusterResolver>(TFConfigClusterResolverOptions{.variables = variables},
                                          "no cluster in the environment: a single process");
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE ImpliedResolver default_resolver(const Environment& variables,
                                                   const ClusterFlags& flags) {
  using namespace cluster_internal;
  if (flags.any())
    return {std::make_unique<FlagsClusterResolver>(flags), "the flags --job_name and others"};
  const int tasks = tasks_of_tf_config(variables);
  const bool vertex = variables.has("CLUSTER_SPEC");
  if (tasks > 1 || (tasks == 1 && !vertex))
    return implied<TFConfigClusterResolver>(TFConfigClusterResolverOptions{.variables = variables},
                                            "TF_CONFIG");
  if (vertex)
    return implied<VertexClusterResolver>(VertexClusterResolverOptions{.variables = variables},
                                          "CLUSTER_SPEC of Vertex AI");
  const SageMakerClusterResolverOptions sagemaker{.variables = variables};
  const bool toolkit = has_all(variables, {"SM_HOSTS", "SM_CURRENT_HOST"});
  if (toolkit || has_all(variables, {"TRAINING_JOB_NAME", "TRAINING_JOB_ARN"}))
    return implied<SageMakerClusterResolver>(
        sagemaker, toolkit ? "SM_HOSTS of SageMaker" : "a SageMaker training job");
  return implied_by_launcher(variables);
}

}  // namespace distribute
