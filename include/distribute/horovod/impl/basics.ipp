#pragma once
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/cluster/cluster_role.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/horovod/basics.hpp>
#include <distribute/horovod/detail/elastic_job.hpp>
#include <distribute/horovod/detail/engine.hpp>
#include <distribute/horovod/detail/engine_scope.hpp>
#include <distribute/net/deadline.hpp>

#include <cstdlib>
#include <thread>

namespace distribute::horovod_internal {

/// Finds the job's tasks; there are none for a job of one rank.
DISTRIBUTE_INLINE ClusterTasks find_tasks(const hvd::InitOptions& options,
                                          const ElasticOptions& elastic) {
  if (options.tasks) return *options.tasks;
  const auto implied = options.resolver ? nullptr : default_resolver().resolver;
  const auto place = cluster_place(
      cluster_internal::role_to_join(options.resolver ? *options.resolver : *implied));
  if (place.task_type == TaskType::Evaluator)
    throw InvalidArgumentError(
        "hvd::init: this task is an evaluator, which is no rank; evaluate on rank 0");
  check_elastic(elastic, place);
  return place.alone ? ClusterTasks{} : place.tasks;
}

DISTRIBUTE_INLINE std::shared_ptr<Engine> join_elastic_job(ClusterTasks tasks,
                                                           const ElasticOptions& limits,
                                                           const EngineOptions& options) {
  const auto job = std::make_shared<ElasticJob>(std::move(tasks), limits, options);
  if (!job->next({}))
    throw hvd::JobFinishedError("hvd::init: the others had finished before this rank could join");
  return last_engine();
}

DISTRIBUTE_INLINE std::shared_ptr<Engine> join_job(const hvd::InitOptions& options) {
  const ElasticOptions elastic = elastic_limits(options.elastic);
  ClusterTasks tasks = find_tasks(options, elastic);
  EngineOptions limits = EngineOptions::from_environment();
  limits.communication = options.communication_options;
  limits.communication.check();
  if (tasks.size() < 2) {
    (void)ClusterOptions::from_environment();  // a rank alone refuses wrong values, too
    return std::make_shared<Engine>(nullptr, limits);
  }
  if (elastic.min_workers > 0) return join_elastic_job(std::move(tasks), elastic, limits);
  const auto runtime = ClusterRuntime::join(std::move(tasks));
  collective::share_cores(*runtime);
  runtime->agree("the options of the program", horovod_agreement());
  return std::make_shared<Engine>(runtime, limits);
}

DISTRIBUTE_INLINE std::shared_ptr<Engine> join_patiently(const hvd::InitOptions& options,
                                                         double timeout) {
  const auto deadline = net::Deadline::after_seconds(timeout);
  for (;;) {
    try {
      return join_job(options);
    } catch (const Error& error) {
      const StatusCode code = error.code();
      const bool again = code == StatusCode::FailedPrecondition ||
                         code == StatusCode::Unavailable || code == StatusCode::Aborted;
      if (dynamic_cast<const hvd::JobFinishedError*>(&error)) throw;
      if (!again) throw;
      if (deadline.passed())
        throw DeadlineExceededError(str_cat("hvd::init: the tasks of the new job have not met ",
                                            "within ", timeout, " s: ", error.what()));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

DISTRIBUTE_INLINE std::string device_of_rank(int local_rank, int gpus) {
  return gpus == 0 ? "/cpu:0" : str_cat("/gpu:", local_rank % gpus);
}

}  // namespace distribute::horovod_internal

namespace distribute::hvd {

DISTRIBUTE_INLINE void init(const InitOptions& options) {
  if (is_initialized()) return;
  const bool again = horovod_internal::last_engine() != nullptr;
  horovod_internal::set_engine(
      again ? horovod_internal::join_patiently(options,
                                               ClusterOptions::from_environment().startup_timeout)
            : horovod_internal::join_job(options));
  [[maybe_unused]] static const int at_exit = std::atexit([] { shutdown(); });
  for (const auto& ranks : options.process_sets) add_process_set(ranks);
}

DISTRIBUTE_INLINE void shutdown() {
  if (!is_initialized()) return;
  const auto engine = horovod_internal::engine();
  engine->stop();
  engine->set_elastic_job(nullptr);
}

DISTRIBUTE_INLINE bool is_initialized() {
  const auto engine = horovod_internal::last_engine();
  return engine && !engine->stopped();
}
DISTRIBUTE_INLINE int rank() { return horovod_internal::engine()->rank(); }
DISTRIBUTE_INLINE int size() { return horovod_internal::engine()->size(); }
DISTRIBUTE_INLINE int local_rank() { return horovod_internal::engine()->place().local_rank; }
DISTRIBUTE_INLINE int local_size() { return horovod_internal::engine()->place().local_size; }
DISTRIBUTE_INLINE std::string local_device() {
  return horovod_internal::device_of_rank(local_rank(),
                                          int(config::list_physical_devices("GPU").size()));
}
DISTRIBUTE_INLINE int cross_rank() { return horovod_internal::engine()->place().cross_rank; }
DISTRIBUTE_INLINE int cross_size() { return horovod_internal::engine()->place().cross_size; }
DISTRIBUTE_INLINE bool is_homogeneous() { return horovod_internal::engine()->place().homogeneous; }

}  // namespace distribute::hvd
