#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/platforms/vertex_cluster_resolver.hpp>

#include <utility>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE std::string job_of_pool(const std::string& name) {
  constexpr std::string_view kPools[] = {TaskType::Chief, TaskType::Worker,
                                         TaskType::ParameterServer, TaskType::Evaluator};
  for (int i = 0; i < 4; ++i)
    if (name == "workerpool" + std::to_string(i)) return std::string(kPools[i]);
  return name == TaskType::Master ? std::string(TaskType::Chief) : name;
}

DISTRIBUTE_INLINE untrusted::JsonValue cluster_spec_variable(const Environment& variables) {
  if (variables.has("CLUSTER_SPEC")) return json_object_variable(variables, "CLUSTER_SPEC");
  throw FailedPreconditionError("CLUSTER_SPEC is not set. Not running on Vertex AI?");
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE VertexClusterResolver::VertexClusterResolver(VertexClusterResolverOptions options)
    : variables_(std::move(options.variables)) {
  set_rpc_layer(std::move(options.rpc_layer));
}

DISTRIBUTE_INLINE ClusterSpec VertexClusterResolver::cluster_spec() const {
  const auto root = cluster_internal::cluster_spec_variable(variables_);
  const auto* cluster = root.find("cluster");
  if (!cluster) return ClusterSpec();
  const ClusterSpec pools = cluster_internal::cluster_spec_of(*cluster, "CLUSTER_SPEC: cluster");
  ClusterSpec::Jobs jobs;
  for (const auto& [pool, tasks] : pools.as_dict()) {
    const std::string job = cluster_internal::job_of_pool(pool);
    if (job == TaskType::Evaluator) continue;
    if (!jobs.emplace(job, tasks).second)
      throw InvalidArgumentError("CLUSTER_SPEC: cluster: " + untrusted::shown(pool) +
                                 " is a second job " + job);
  }
  return ClusterSpec(std::move(jobs));
}

DISTRIBUTE_INLINE std::string VertexClusterResolver::incomplete_because() const {
  const auto root = cluster_internal::cluster_spec_variable(variables_);
  const auto* cluster = root.find("cluster");
  if (cluster && !cluster->members.empty()) return "";
  const std::string misplaced = cluster_internal::misplaced_cluster(root, "CLUSTER_SPEC");
  return misplaced.empty() ? "CLUSTER_SPEC has no `cluster`" : misplaced;
}

DISTRIBUTE_INLINE std::optional<TaskType> VertexClusterResolver::find_task_type() const {
  const auto root = cluster_internal::cluster_spec_variable(variables_);
  const auto type = cluster_internal::task_type_in(root, "CLUSTER_SPEC");
  if (!type) return std::nullopt;
  return TaskType(cluster_internal::job_of_pool(type->name()));
}

DISTRIBUTE_INLINE std::optional<int> VertexClusterResolver::find_task_id() const {
  return cluster_internal::task_id_in(cluster_internal::cluster_spec_variable(variables_),
                                      "CLUSTER_SPEC");
}

}  // namespace distribute
