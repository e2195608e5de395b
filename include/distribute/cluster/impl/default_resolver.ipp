#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/cluster/detail/resolver_kinds.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>

namespace distribute::cluster_internal {

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

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE ImpliedResolver default_resolver(const Environment& variables,
                                                   const ClusterFlags& flags) {
  using namespace cluster_internal;
  if (flags.any())
    return {std::make_unique<FlagsClusterResolver>(flags), "the flags --job_name and others"};
  const int tasks = tasks_of_tf_config(variables);
  const auto tf_config = [&](const char* reason) {
    return ImpliedResolver{std::make_unique<TFConfigClusterResolver>(
                               TFConfigClusterResolverOptions{.variables = variables}),
                           reason};
  };
  if (tasks > 1 || (tasks == 1 && !variables.has("CLUSTER_SPEC"))) return tf_config("TF_CONFIG");
  for (const ResolverKind& kind : resolver_kinds())
    if (const std::string seen = kind.implied_by(variables); !seen.empty())
      return {kind.make(variables), seen};
  return tf_config("no cluster in the environment: a single process");
}

}  // namespace distribute
