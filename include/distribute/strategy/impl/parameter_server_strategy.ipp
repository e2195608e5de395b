#pragma once
#include <distribute/base/detail/usage_error.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/cluster_spec.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/device/detail/device_state.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/parameter_server/detail/client.hpp>
#include <distribute/rpc/job_task.hpp>
#include <distribute/strategy/detail/parameter_server_extended.hpp>
#include <distribute/strategy/parameter_server_strategy.hpp>

#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE int tasks_of(const ClusterSpec& spec, const char* job) {
  return spec.has_job(job) ? spec.num_tasks(job) : 0;
}

/// Throws  InvalidArgumentError with TensorFlow's words.
DISTRIBUTE_INLINE void check_server_cluster(const ClusterRole& role) {
  const ClusterSpec& spec = role.cluster;
  if (spec.jobs().empty())
    throw InvalidArgumentError(
        "Cluster spec must be non-empty in `tf.distribute.cluster_resolver.ClusterResolver`.");
  multi_worker_util::validate_cluster_spec(spec, role.task_type, role.task_id);
  if (tasks_of(spec, "ps") < 1) throw InvalidArgumentError("There must be at least one ps.");
  if (tasks_of(spec, "worker") < 1)
    throw InvalidArgumentError("There must be at least one worker.");
  if (!role.task_type || !role.task_id)
    throw InvalidArgumentError(
        "When `cluster_spec` is given, you must also specify `task_type` and `task_id`: the "
        "environment names a cluster, but not which of its tasks this process is");
}

DISTRIBUTE_INLINE std::string host_of(const std::string& address) {
  return address.substr(0, address.rfind(':'));
}

/// Servers are not counted: they mostly wait.
DISTRIBUTE_INLINE void share_cores_of_host(const ServerJob& job) {
  const std::string mine = host_of(job.cluster.task_address(job.type, job.index));
  int near = 0;
  for (const char* type : {"chief", "worker"})
    for (int i = 0; i < tasks_of(job.cluster, type); ++i)
      near += host_of(job.cluster.task_address(type, i)) == mine;
  collective::share_cores(near);
}

DISTRIBUTE_INLINE ServerJob join_job(const ClusterRole& role,
                                     const ParameterServerOptions& options) {
  base_internal::reading_usage([&] { check_server_cluster(role); });
  const TaskType& type = *role.task_type;
  ServerJob job{.cluster = role.cluster, .type = type.name(), .index = *role.task_id};
  device_internal::add_own_task(job.type, job.index);
  job.is_chief = multi_worker_util::is_chief(job.cluster, type, job.index);
  if (type == TaskType::Evaluator) return job;  // works on checkpoints, by itself
  job.task = rpc::JobTask::start({.cluster = job.cluster, .type = job.type, .index = job.index});
  share_cores_of_host(job);
  job.server_options.use_locking = options.use_locking;
  if (type == TaskType::ParameterServer) return job;
  parameter_server::ClientOptions client;
  client.placement = options.placement;
  client.bf16_on_wire = options.bf16_on_wire;
  job.client = std::make_shared<parameter_server::Client>(job.task, client);
  return job;
}

DISTRIBUTE_INLINE void check_sync(const ParameterServerOptions& options) {
  if (!options.sync_replicas) return;
  const SyncReplicas& sync = *options.sync_replicas;
  if (sync.replicas_to_aggregate < 1)
    throw InvalidArgumentError(str_cat(
        "SyncReplicas: wanted at least 1 replicas_to_aggregate, got ", sync.replicas_to_aggregate));
  const int total = sync.total_num_replicas ? sync.total_num_replicas : sync.replicas_to_aggregate;
  if (sync.num_init_tokens >= 0 && sync.num_init_tokens < sync.replicas_to_aggregate - total)
    throw InvalidArgumentError(
        str_cat("SyncReplicas: too few tokens to finish the first step: ", sync.num_init_tokens,
                " (given) vs ", sync.replicas_to_aggregate - total, " (needed)"));
  if (options.max_staleness >= 0)
    throw InvalidArgumentError(
        "ParameterServerStrategy: give sync_replicas or max_staleness, not both");
}

DISTRIBUTE_INLINE StrategyParts
join_servers(std::shared_ptr<ClusterResolver> resolver,
             const std::function<std::vector<std::string>(const std::string& type)>& devices_of,
             const ParameterServerOptions& options) {
  check_sync(options);
  VariablePlacement placement{options.variable_partitioner.get(), options.device_setter};
  const bool implied = !resolver;
  if (implied) resolver = default_resolver().resolver;
  const ClusterRole role = cluster_internal::role_to_join(*resolver);
  base_internal::reading_usage([&] { check_complete(role); });
  const bool alone = implied && role.cluster.jobs().empty();
  const auto type = alone ? std::nullopt : role.task_type;
  std::vector<std::string> devices = devices_of(type ? type->name() : "worker");
  ServerJob job = alone ? ServerJob{} : join_job(role, options);
  if (job.is_chief && job.type != TaskType::Evaluator) tell_of_missing_gpus();
  return {std::make_unique<ParameterServerExtended>(
              std::move(devices), std::move(job), std::move(placement),
              PushOptions{options.sync_replicas, options.max_staleness}),
          std::move(resolver)};
}

DISTRIBUTE_INLINE ParameterServerExtended* parameter_server_extended(const Strategy& strategy) {
  return dynamic_cast<ParameterServerExtended*>(&strategy.extended());
}

}  // namespace distribute::strategy_internal
