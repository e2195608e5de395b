#pragma once
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/engine.hpp>
#include <distribute/horovod/process_set.hpp>
#include <distribute/strategy/cluster_place.hpp>

#include <cstdlib>

namespace distribute::horovod_internal {

/// The job's tasks: none for a job of one rank.
DISTRIBUTE_INLINE ClusterTasks find_tasks(const hvd::InitOptions& options) {
  if (options.tasks) return *options.tasks;
  const auto implied = options.resolver ? nullptr : default_resolver().resolver;
  const auto place =
      strategy_internal::place_of(options.resolver ? *options.resolver : *implied);
  if (place.task.type == "evaluator")
    throw InvalidArgumentError(
        "hvd::init: this task is an evaluator, which is no rank; evaluate on rank 0");
  return place.alone ? ClusterTasks{} : place.tasks;
}

DISTRIBUTE_INLINE std::shared_ptr<Engine> join_job(const hvd::InitOptions& options) {
  ClusterTasks tasks = find_tasks(options);
  EngineOptions limits = EngineOptions::from_environment();
  limits.communication = options.communication_options;
  limits.communication.check();
  if (tasks.size() < 2) return std::make_shared<Engine>(nullptr, limits);
  const auto runtime = ClusterRuntime::join(std::move(tasks));
  strategy_internal::share_cores(*runtime);
  return std::make_shared<Engine>(runtime, limits);
}

}  // namespace distribute::horovod_internal

namespace distribute::hvd {

DISTRIBUTE_INLINE void init(const InitOptions& options) {
  if (is_initialized()) return;
  horovod_internal::set_engine(horovod_internal::join_job(options));
  [[maybe_unused]] static const int at_exit = std::atexit([] { shutdown(); });
  for (const auto& ranks : options.process_sets) add_process_set(ranks);
}

DISTRIBUTE_INLINE void shutdown() {
  const auto engine = horovod_internal::engine_or_null();
  if (!engine) return;
  engine->stop();
  horovod_internal::set_engine(nullptr);
}

DISTRIBUTE_INLINE bool is_initialized() { return horovod_internal::engine_or_null() != nullptr; }
DISTRIBUTE_INLINE int rank() { return horovod_internal::engine()->rank(); }
DISTRIBUTE_INLINE int size() { return horovod_internal::engine()->size(); }
DISTRIBUTE_INLINE int local_rank() { return horovod_internal::engine()->local_rank(); }
DISTRIBUTE_INLINE int local_size() { return horovod_internal::engine()->local_size(); }
DISTRIBUTE_INLINE int cross_rank() { return horovod_internal::engine()->cross_rank(); }
DISTRIBUTE_INLINE int cross_size() { return horovod_internal::engine()->cross_size(); }
DISTRIBUTE_INLINE bool is_homogeneous() { return horovod_internal::engine()->is_homogeneous(); }

}  // namespace distribute::hvd
