#pragma once
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/cluster/detail/agreement.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/timeline.hpp>
#include <distribute/strategy/detail/cluster_place.hpp>
#include <distribute/strategy/detail/multi_worker_extended.hpp>
#include <distribute/strategy/detail/share_cores.hpp>
#include <distribute/strategy/multi_worker_mirrored_strategy.hpp>

#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE collective::WorkerGroup work_alone(int replicas) {
  const auto timeline = collective::Timeline::from_environment();
  auto group = std::move(collective::make_thread_workers(1, replicas, {.timeline = timeline})[0]);
  group.timeline = timeline;
  if (timeline)
    group.leave = [timeline] {
      const std::string events = timeline->events(0, "worker 0", {});
      timeline->save(std::span(&events, 1));
    };
  return group;
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
  if (!resolver) resolver = default_resolver().resolver;
  ClusterPlace place = place_of(*resolver);
  const std::string agreement = cluster_internal::agreement_of(options.must_agree);
  const int replicas = int(devices.size());
  collective::WorkerGroup group;
  std::unique_ptr<ElasticWorkers> elastic;
  if (options.elastic.min_workers > 0 && !place.alone) {
    elastic = std::make_unique<ElasticWorkers>(std::move(place.tasks),
                                               ElasticSetup{options.elastic, agreement});
    group = work_alone(replicas);
  } else if (place.alone) {
    group = work_alone(replicas);
  } else {
    const auto runtime = ClusterRuntime::join(std::move(place.tasks));
    share_cores(*runtime);
    runtime->agree("the options of the program", agreement);
    group = collective::connect_workers(runtime, replicas, options.communication_options,
                                        gpus_among(devices));
  }
  return {std::make_unique<MultiWorkerExtended>(std::move(devices), std::move(group),
                                                std::move(place.task),
                                                options.communication_options, std::move(elastic)),
          std::move(resolver)};
}

}  // namespace distribute::strategy_internal
