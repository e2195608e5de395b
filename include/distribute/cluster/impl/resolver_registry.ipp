#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/cluster/cluster_resolvers.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/cluster/detail/partial_environment.hpp>
#include <distribute/cluster/detail/resolver_kinds.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE bool has_all(const Environment& variables,
                               std::initializer_list<const char*> names) {
  return std::all_of(names.begin(), names.end(),
                     [&](const char* name) { return variables.has(name); });
}

DISTRIBUTE_INLINE std::string seen_if(bool seen, const std::string& what) {
  return seen ? what : "";
}

DISTRIBUTE_INLINE bool has_torchrun(const Environment& variables) {
  return has_all(variables, {"RANK", "WORLD_SIZE", "MASTER_ADDR"}) ||
         has_all(variables, {"PET_NNODES", "PET_NODE_RANK", "PET_MASTER_ADDR"});
}

DISTRIBUTE_INLINE bool has_open_mpi(const Environment& variables) {
  return has_all(variables, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"});
}

/// srun sets PMI_RANK itself; the variables of torchrun and of Open MPI's mpirun come from them.
DISTRIBUTE_INLINE std::string seen_of_slurm(const Environment& variables) {
  const bool slurm =
      has_all(variables, {"SLURM_PROCID", "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE"});
  const bool inner =
      (has_torchrun(variables) && variables.has("TORCHELASTIC_RUN_ID")) || has_open_mpi(variables);
  return seen_if(slurm && !inner, "a job step of Slurm (SLURM_PROCID)");
}

DISTRIBUTE_INLINE std::string seen_of_mpi(const Environment& variables) {
  using Names = std::pair<const char*, const char*>;
  for (const auto& [rank, size] :
       {Names{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, Names{"PMI_RANK", "PMI_SIZE"},
        Names{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"}})
    if (has_all(variables, {rank, size}))
      return str_cat("mpirun's variables (", rank, " and ", size, ")");
  return "";
}

DISTRIBUTE_INLINE ResolverKind kind_of_platforms(
    const char* name, int order, std::function<std::string(const Environment&)> implied_by) {
  auto make = [implied_by, name](const Environment& variables) -> std::unique_ptr<ClusterResolver> {
    throw UnimplementedError(str_cat("the environment has ", implied_by(variables),
                                     ", but this program has no ", name,
                                     " resolver: include <distribute/platforms.hpp> and link "
                                     "distribute::platforms, or set TF_CONFIG"));
  };
  return {name, order, std::move(implied_by), make};
}

DISTRIBUTE_INLINE std::vector<ResolverKind> built_in_kinds() {
  const auto make_mpi = [](const Environment& variables) {
    return std::make_unique<OpenMpiClusterResolver>(
        OpenMpiClusterResolverOptions{.variables = variables});
  };
  return {
      kind_of_platforms("Vertex AI", 10,
                        [](const Environment& variables) {
                          return seen_if(variables.has("CLUSTER_SPEC"),
                                         "CLUSTER_SPEC of Vertex AI");
                        }),
      kind_of_platforms("SageMaker", 20,
                        [](const Environment& variables) {
                          return seen_if(!has_open_mpi(variables), seen_of_sagemaker(variables));
                        }),
      {"horovodrun", 30,
       [](const Environment& variables) {
         return seen_if(has_all(variables, {"HOROVOD_RANK", "HOROVOD_SIZE"}),
                        "horovodrun's variables (HOROVOD_RANK)");
       },
       make_mpi},
      kind_of_platforms("Slurm", 40, seen_of_slurm),
      {"torchrun", 50,
       [](const Environment& variables) {
         return seen_if(has_torchrun(variables), "torchrun's variables (RANK or PET_NODE_RANK)");
       },
       [](const Environment& variables) {
         return std::make_unique<TorchrunClusterResolver>(
             TorchrunClusterResolverOptions{.variables = variables});
       }},
      {"mpirun", 60, seen_of_mpi, make_mpi},
      kind_of_platforms("Kubernetes", 70, [](const Environment& variables) {
        return seen_if(has_all(variables, {"DISTRIBUTE_REPLICAS", "KUBERNETES_SERVICE_HOST"}),
                       "a pod of Kubernetes (DISTRIBUTE_REPLICAS)");
      })};
}

struct ResolverRegistry {
  ResolverRegistry() {
    for (ResolverKind& kind : built_in_kinds()) kinds[kind.name] = std::move(kind);
  }

  std::mutex mutex;  // guards kinds
  std::map<std::string, ResolverKind> kinds;
};

DISTRIBUTE_INLINE std::vector<ResolverKind> resolver_kinds() {
  ResolverRegistry& registry = in_process<ResolverRegistry>();
  std::vector<ResolverKind> kinds;
  {
    const std::lock_guard lock(registry.mutex);
    for (const auto& [name, kind] : registry.kinds) kinds.push_back(kind);
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const ResolverKind& a, const ResolverKind& b) { return a.order < b.order; });
  return kinds;
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE void register_cluster_resolver(ResolverKind kind) {
  if (kind.name.empty() || !kind.make)
    throw InvalidArgumentError("register_cluster_resolver: a kind needs a name and `make`");
  auto& registry = in_process<cluster_internal::ResolverRegistry>();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.kinds.find(kind.name);
  if (!kind.implied_by && found == registry.kinds.end())
    throw InvalidArgumentError("register_cluster_resolver: " + kind.name +
                               " is a new kind and needs `implied_by`");
  if (!kind.implied_by) {
    found->second.make = std::move(kind.make);
    return;
  }
  registry.kinds[kind.name] = std::move(kind);
}

}  // namespace distribute
