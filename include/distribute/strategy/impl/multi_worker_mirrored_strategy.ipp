#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/timeline.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/strategy/detail/multi_worker_extended.hpp>
#include <distribute/strategy/multi_worker_mirrored_strategy.hpp>

#include <map>
#include <memory>
#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE collective::WorkerGroup work_alone(int replicas) {
  const auto timeline = collective::Timeline::from_environment();
  auto group = std::move(collective::make_thread_workers(1, replicas, {.timeline = timeline})[0]);
  group.timeline = timeline;
  if (timeline) group.leave = [timeline] { timeline->save_alone("worker 0"); };
  return group;
}

/// Writes the ready file of a worker without others, as there is no runtime that does it.
DISTRIBUTE_INLINE void keep_ready_file(collective::WorkerGroup& group) {
  const std::string path = ready_file_path();
  if (path.empty()) return;
  group.leave = [ready = std::make_shared<ReadyFile>(path), leave = std::move(group.leave)] {
    if (leave) leave();
  };
}

/// Warns, as TensorFlow does, if NCCL is requested but not used.
DISTRIBUTE_INLINE void warn_without_nccl(const CommunicationOptions& options,
                                         const std::vector<std::string>& devices, bool alone) {
  if (options.implementation != CommunicationImplementation::Nccl) return;
  const size_t gpus = gpus_among(devices).size();
  if (gpus == 0)
    log_warning("strategy",
                "Enabled NCCL communication but no GPUs detected/specified: values are summed in "
                "host memory");
  else if (alone && gpus > 1)
    log_warning("strategy",
                "Enabled NCCL communication but there is one worker: its GPUs' values are summed "
                "by copies; MirroredStrategy sums them over NCCL");
}

/// Refuses what slots in slices cannot serve.
DISTRIBUTE_INLINE void check_sharding(const MultiWorkerOptions& options,
                                      const std::vector<std::string>& devices) {
  if (!options.shard_optimizer_state) return;
  if (options.elastic.min_workers > 0)
    throw InvalidArgumentError(
        "MultiWorkerMirroredStrategy: with shard_optimizer_state a worker that is lost takes its "
        "slice of the optimizer's state away; set it or elastic.min_workers, not both");
  check_sharded_devices("MultiWorkerMirroredStrategy", devices);
}

/// The options on which the workers must agree.
DISTRIBUTE_INLINE std::string agreement_of(const MultiWorkerOptions& options) {
  std::map<std::string, std::string> all = options.must_agree;
  if (options.shard_optimizer_state) all["MultiWorkerOptions.shard_optimizer_state"] = "true";
  return agreed_json(all);
}

DISTRIBUTE_INLINE StrategyParts join_cluster(std::shared_ptr<ClusterResolver> resolver,
                                             std::vector<std::string> devices,
                                             const MultiWorkerOptions& options) {
  options.communication_options.check();
  if (options.elastic.max_workers != 0 && options.elastic.min_workers == 0)
    throw InvalidArgumentError(str_cat("MultiWorkerMirroredStrategy: elastic.max_workers is ",
                                       options.elastic.max_workers,
                                       ", but without min_workers workers do not change; set "
                                       "elastic.min_workers to at least 1"));
  check_sharding(options, devices);
  if (!resolver) resolver = default_resolver().resolver;
  ClusterPlace place = cluster_place(cluster_internal::role_to_join(*resolver));
  check_elastic(options.elastic, place);
  device_internal::add_own_task(place.task_type, place.task_id);
  warn_without_nccl(options.communication_options, devices, place.alone);
  if (place.is_chief && place.task_type != TaskType::Evaluator) tell_of_missing_gpus();
  const std::string agreement = agreement_of(options);
  const int replicas = int(devices.size());
  collective::WorkerGroup group;
  std::unique_ptr<ElasticWorkers> elastic;
  if (options.elastic.min_workers > 0 && !place.alone) {
    elastic = std::make_unique<ElasticWorkers>(std::move(place.tasks),
                                               ElasticSetup{options.elastic, agreement});
    group = work_alone(replicas);
  } else if (place.alone) {
    group = work_alone(replicas);
    keep_ready_file(group);
  } else {
    const auto runtime = ClusterRuntime::join(std::move(place.tasks));
    collective::share_cores(*runtime);
    runtime->agree("the options of the program", agreement);
    group = collective::connect_workers(runtime, replicas, options.communication_options,
                                        gpus_among(devices));
  }
  return {std::make_unique<MultiWorkerExtended>(
              std::move(devices), std::move(group),
              WorkerTask{place.task_type, place.task_id, place.is_chief},
              options.communication_options, std::move(elastic), options.shard_optimizer_state),
          std::move(resolver)};
}

}  // namespace distribute::strategy_internal
