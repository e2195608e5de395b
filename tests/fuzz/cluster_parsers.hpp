#pragma once
/// What the fuzzers of the cluster's parsers run: any text may be refused, but must not crash.

#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/platforms/kubernetes_cluster_resolver.hpp>
#include <distribute/platforms/sagemaker_cluster_resolver.hpp>
#include <distribute/platforms/slurm_cluster_resolver.hpp>
#include <distribute/platforms/vertex_cluster_resolver.hpp>

#include <cstdlib>
#include <string>
#include <string_view>

namespace fuzz {

using Variables = std::map<std::string, std::string>;

/// Aborts when something that must hold does not: fuzzers stop there.
inline void must(bool holds) {
  if (!holds) std::abort();
}

/// All answers of a resolver, which may refuse in two ways.
inline void ask(const distribute::ClusterResolver& resolver) {
  try {
    const distribute::ClusterRole role = distribute::cluster_role(resolver);
    must(!role.to_json().empty());
    // What was read can be written and read again.
    must(distribute::ClusterSpec::from_json(role.cluster.to_json()) == role.cluster);
    if (role.id_in_cluster && role.worker_count && role.task_type != "evaluator")
      must(*role.id_in_cluster >= 0 && *role.id_in_cluster < *role.worker_count);
  } catch (const distribute::InvalidArgumentError&) {
  } catch (const distribute::FailedPreconditionError&) {
  }
}

inline void tf_config(std::string_view text) {
  const Variables variables = {{"TF_CONFIG", std::string(text)}};
  ask(distribute::TFConfigClusterResolver({.variables = variables}));
  try {
    ask(*distribute::default_resolver(variables).resolver);
  } catch (const distribute::InvalidArgumentError&) {  // of a cluster with parts missing
  } catch (const distribute::FailedPreconditionError&) {
  }
}

inline void vertex(std::string_view text) {
  ask(distribute::VertexClusterResolver(
      {.variables = Variables{{"CLUSTER_SPEC", std::string(text)}}}));
}

inline void sagemaker(std::string_view text) {
  ask(distribute::SageMakerClusterResolver(
      {.variables = Variables{{"SM_HOSTS", std::string(text)}, {"SM_CURRENT_HOST", "algo-1"}}}));
}

inline void kubernetes(std::string_view text) {
  distribute::cluster_internal::parse_pod_info(text);
  ask(distribute::KubernetesClusterResolver(
      {.list_pods = [text](const std::string&) { return std::string(text); }}));
}

/// A node list, a newline and the numbers of tasks.
inline void slurm(std::string_view text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string nodes(text.substr(0, end));
  const std::string tasks(end < text.size() ? text.substr(end + 1) : "1");
  for (const char* number : {"1", "4"}) try {
      ask(distribute::SlurmClusterResolver(
          {.variables = Variables{{"SLURM_PROCID", "0"},
                                  {"SLURM_STEP_NUM_TASKS", number},
                                  {"SLURM_STEP_NODELIST", nodes},
                                  {"SLURM_STEP_TASKS_PER_NODE", tasks}}}));
    } catch (const distribute::InvalidArgumentError&) {
    } catch (const distribute::FailedPreconditionError&) {
    }
}

using ClusterParser = void (*)(std::string_view);
inline constexpr ClusterParser kClusterParsers[] = {tf_config, vertex, sagemaker, kubernetes,
                                                    slurm};

}  // namespace fuzz
