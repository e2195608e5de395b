#pragma once
#include <distribute/base/detail/usage_error.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/cluster/detail/partial_environment.hpp>
#include <distribute/cluster/detail/resolver_kinds.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>

namespace distribute::cluster_internal {

enum class TfConfigContent {
  NoCluster,
  OneTask,  // or a cluster whose jobs are empty
  Job,      // of several tasks
  Faulty,   // cannot be read, or speaks of a job without tasks: its resolver says why
};

DISTRIBUTE_INLINE TfConfigContent content_of(const TFConfigClusterResolver& resolver) {
  try {
    int count = 0;
    const ClusterSpec spec = resolver.cluster_spec();
    for (const auto& [job, tasks] : spec.as_dict()) count += tasks.size();
    if (count > 1) return TfConfigContent::Job;
    if (count == 0 && !resolver.incomplete_because().empty()) return TfConfigContent::Faulty;
    return spec ? TfConfigContent::OneTask : TfConfigContent::NoCluster;
  } catch (const Error&) {
    return TfConfigContent::Faulty;
  }
}

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

DISTRIBUTE_INLINE ImpliedResolver
implied_by_tf_config(std::unique_ptr<TFConfigClusterResolver> resolver, const char* reason) {
  try {
    if (auto renamed = with_master_as_chief(*resolver))
      return {std::move(renamed), "TF_CONFIG, whose job 'master' is taken for the chief", true};
  } catch (const Error&) {  // the resolver throws it when it is asked
  }
  return {std::move(resolver), reason};
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE ImpliedResolver default_resolver(const Environment& variables,
                                                   const ClusterFlags& flags) {
  ImpliedResolver implied = base_internal::reading_usage([&] {
    ImpliedResolver found = implied_resolver(variables, flags);
    check_complete(*found.resolver);
    return found;
  });
  if (implied.master_is_chief) log_info("cluster", implied.reason);
  return implied;
}

DISTRIBUTE_INLINE ImpliedResolver implied_resolver(const Environment& variables,
                                                   const ClusterFlags& flags) {
  using namespace cluster_internal;
  if (flags.any())
    return {std::make_unique<FlagsClusterResolver>(flags), "the flags --job_name and others"};
  auto tf_config = std::make_unique<TFConfigClusterResolver>(
      TFConfigClusterResolverOptions{.variables = variables});
  const TfConfigContent content = content_of(*tf_config);
  const bool alone = content == TfConfigContent::OneTask && variables.has("CLUSTER_SPEC");
  if (content != TfConfigContent::NoCluster && !alone)
    return implied_by_tf_config(std::move(tf_config), "TF_CONFIG");
  for (const ResolverKind& kind : resolver_kinds())
    if (const std::string seen = kind.implied_by(variables); !seen.empty())
      return {kind.make(variables), seen};
  if (const std::string why = partial_environment(variables); !why.empty())
    throw base_internal::UsageError<FailedPreconditionError>(why);
  return implied_by_tf_config(std::move(tf_config),
                              "no cluster in the environment: a single process");
}

}  // namespace distribute
