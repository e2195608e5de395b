#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/cluster/detail/partial_environment.hpp>
#include <distribute/cluster/detail/resolver_kinds.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>

namespace distribute::cluster_internal {

/// Number of tasks that TF_CONFIG names; 2 for one that cannot be read, or speaks of a job without
/// tasks, so that its resolver is chosen and says why.
DISTRIBUTE_INLINE int tasks_of_tf_config(const Environment& variables) {
  try {
    int count = 0;
    const TFConfigClusterResolver resolver({.variables = variables});
    const ClusterSpec spec = resolver.cluster_spec();
    for (const auto& [job, tasks] : spec.as_dict()) count += tasks.size();
    if (count == 0 && !resolver.incomplete_because().empty()) return 2;
    return spec && count == 0 ? 1 : count;
  } catch (const Error&) {
    return 2;
  }
}

inline constexpr const char* kMasterIsChief =
    "TF_CONFIG, whose job 'master' is taken for the chief";

/// TF_CONFIG's cluster with its master, of TensorFlow 1 and old TFJobs, as the chief; null where it
/// has none, or a chief besides.
DISTRIBUTE_INLINE std::unique_ptr<ClusterResolver> with_master_as_chief(
    const ClusterResolver& resolver) {
  ClusterSpec::Jobs jobs = resolver.cluster_spec().as_dict();
  if (!jobs.contains("master") || jobs.contains("chief")) return nullptr;
  auto master = jobs.extract("master");
  master.key() = "chief";
  jobs.insert(std::move(master));
  auto type = resolver.task_type();
  if (type == TaskType::Master) type = TaskType(TaskType::Chief);
  return std::make_unique<SimpleClusterResolver>(
      ClusterSpec(std::move(jobs)),
      SimpleClusterResolverOptions{
          .task_type = type, .task_id = resolver.task_id(), .rpc_layer = resolver.rpc_layer()});
}

DISTRIBUTE_INLINE ImpliedResolver resolver_of_tf_config(const Environment& variables,
                                                        const char* reason) {
  auto resolver = std::make_unique<TFConfigClusterResolver>(
      TFConfigClusterResolverOptions{.variables = variables});
  try {
    if (auto renamed = with_master_as_chief(*resolver)) return {std::move(renamed), kMasterIsChief};
  } catch (const Error&) {  // the resolver throws it when it is asked
  }
  return {std::move(resolver), reason};
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE ImpliedResolver default_resolver(const Environment& variables,
                                                   const ClusterFlags& flags) {
  ImpliedResolver implied = implied_resolver(variables, flags);
  check_complete(*implied.resolver);
  if (implied.reason == cluster_internal::kMasterIsChief) log_info("cluster", implied.reason);
  return implied;
}

DISTRIBUTE_INLINE ImpliedResolver implied_resolver(const Environment& variables,
                                                   const ClusterFlags& flags) {
  using namespace cluster_internal;
  if (flags.any())
    return {std::make_unique<FlagsClusterResolver>(flags), "the flags --job_name and others"};
  const int tasks = tasks_of_tf_config(variables);
  if (tasks > 1 || (tasks == 1 && !variables.has("CLUSTER_SPEC")))
    return resolver_of_tf_config(variables, "TF_CONFIG");
  for (const ResolverKind& kind : resolver_kinds())
    if (const std::string seen = kind.implied_by(variables); !seen.empty())
      return {kind.make(variables), seen};
  if (const std::string why = partial_environment(variables); !why.empty())
    throw FailedPreconditionError(why);
  return resolver_of_tf_config(variables, "no cluster in the environment: a single process");
}

}  // namespace distribute
