#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/cluster/detail/partial_environment.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <vector>

namespace distribute::cluster_internal {

/// Variables that one launcher sets for every process.
struct LauncherVariables {
  const char* launcher;
  std::vector<const char*> needed;      // together they make the environment whole
  const char* count;                    // how many processes; with 1 there is no job
  std::vector<const char*> hints = {};  // also speak of a job
  /// Text for launchers without a resolver, in place of the missing variables.
  const char* cure = "";
};

DISTRIBUTE_INLINE std::vector<LauncherVariables> launcher_variables() {
  constexpr const char* kNoResolver =
      "a launcher that this program cannot read: set TF_CONFIG, or MASTER_ADDR, RANK and "
      "WORLD_SIZE from its variables";
  return {
      {"torchrun", {"RANK", "WORLD_SIZE", "MASTER_ADDR"}, "WORLD_SIZE", {"TORCHELASTIC_RUN_ID"}},
      {"Kubeflow for torchrun",
       {"PET_NNODES", "PET_NODE_RANK", "PET_MASTER_ADDR"},
       "PET_NNODES",
       {"PET_RDZV_ENDPOINT"}},
      {"horovodrun",
       {"HOROVOD_RANK", "HOROVOD_SIZE"},
       "HOROVOD_SIZE",
       {"HOROVOD_GLOO_RENDEZVOUS_ADDR"}},
      {"Open MPI", {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, "OMPI_COMM_WORLD_SIZE"},
      {"MVAPICH", {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"}, "MV2_COMM_WORLD_SIZE"},
      {"mpirun", {"PMI_RANK", "PMI_SIZE"}, "PMI_SIZE"},
      {"SageMaker", {"SM_HOSTS", "SM_CURRENT_HOST"}, ""},
      {"a job of Kubernetes without an operator",
       {"DISTRIBUTE_REPLICAS", "KUBERNETES_SERVICE_HOST"},
       "DISTRIBUTE_REPLICAS",
       {"DISTRIBUTE_SERVICE"}},
      {"Flux", {"FLUX_TASK_RANK"}, "FLUX_JOB_SIZE", {}, kNoResolver},
      {"jsrun", {"JSM_NAMESPACE_RANK"}, "JSM_NAMESPACE_SIZE", {}, kNoResolver},
      {"PMIx", {"PMIX_RANK"}, "", {}, kNoResolver},
  };
}

/// Whether the variable belongs to a job. KUBERNETES_SERVICE_HOST is in every pod and names the
/// cluster, not the job.
DISTRIBUTE_INLINE bool speaks_of_a_job(const char* name) {
  return std::string_view(name) != "KUBERNETES_SERVICE_HOST";
}

DISTRIBUTE_INLINE std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

DISTRIBUTE_INLINE std::string partly_set(const Environment& variables,
                                         const LauncherVariables& all) {
  std::vector<std::string> there, missing;
  for (const char* name : all.needed) (variables.has(name) ? there : missing).push_back(name);
  const bool speaks = std::any_of(there.begin(), there.end(), [](const std::string& name) {
    return speaks_of_a_job(name.c_str());
  });
  for (const char* name : all.hints)
    if (variables.has(name)) there.push_back(name);
  const bool hint = there.size() + missing.size() > all.needed.size();
  if (!speaks && !hint) return "";
  const std::string count = *all.count ? variables(all.count).value_or("") : "";
  if (count == "1" || count == "1:1") return "";
  const std::string set =
      str_cat(listed(there), there.size() > 1 ? " are" : " is", " set, as by ", all.launcher, ", ");
  if (*all.cure) return set + all.cure;
  return str_cat(set, "but ", listed(missing), missing.size() > 1 ? " are" : " is",
                 " not: set what is missing");
}

/// Describes the script of sbatch, or the shell of salloc, which have the variables of the job but
/// not a step's.
DISTRIBUTE_INLINE std::string outside_of_slurm_step(const Environment& variables) {
  if (!variables.has("SLURM_JOB_ID") && !variables.has("SLURM_PROCID")) return "";
  for (const char* count : {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_JOB_NUM_NODES"})
    if (variables.integer(count).value_or(1) > 1)
      return str_cat(
          count, " is ", *variables.integer(count),
          ", but SLURM_PROCID, SLURM_STEP_NODELIST and SLURM_STEP_TASKS_PER_NODE are not "
          "all set: this is not a task of a job step of Slurm; start with srun");
  return "";
}

DISTRIBUTE_INLINE std::string partial_sagemaker(const Environment& variables) {
  for (const char* name : {"TRAINING_JOB_NAME", "TRAINING_JOB_ARN"})
    if (variables.has(name))
      return str_cat(name,
                     " is set, as by SageMaker, but neither SM_HOSTS and SM_CURRENT_HOST nor ",
                     sagemaker_resource_config(variables),
                     " name the hosts (SAGEMAKER_BASE_DIR names another folder than /opt/ml)");
  return "";
}

DISTRIBUTE_INLINE std::string partial_environment(const Environment& variables) {
  std::string why;
  for (const LauncherVariables& launcher : launcher_variables())
    if (why.empty()) why = partly_set(variables, launcher);
  if (why.empty()) why = outside_of_slurm_step(variables);
  if (why.empty()) why = partial_sagemaker(variables);
  if (why.empty()) return "";
  return why + ". This process would train alone; if it shall, unset these variables";
}

}  // namespace distribute::cluster_internal
