#pragma once
#include <distribute/base/process_state.hpp>
#include <distribute/coordinator/cluster_coordinator.hpp>
#include <distribute/coordinator/worker_pool.hpp>
#include <distribute/strategy/strategy.hpp>

#include <exception>
#include <map>
#include <mutex>

namespace distribute {

namespace coordinator_internal {

/// The coordinators there are.
struct CoordinatorTable {
  std::mutex mutex;  // guards the other
  std::map<const Strategy*, std::weak_ptr<CoordinatorCore>> cores;
};

DISTRIBUTE_INLINE CoordinatorTable& coordinator_table() {
  static const auto made = [] {
    auto table = std::make_shared<CoordinatorTable>();
    process_state().coordinators = table;
    return table.get();
  }();
  return *made;
}

DISTRIBUTE_INLINE CoordinatorCore::CoordinatorCore(Strategy& of_strategy,
                                                   std::shared_ptr<WorkerPool> workers,
                                                   std::function<void()> finish_job,
                                                   std::shared_ptr<void> of_job)
    : strategy(of_strategy),
      job(std::move(of_job)),
      pool(std::move(workers)),
      finish_job_(std::move(finish_job)),
      exceptions_(std::uncaught_exceptions()) {}

DISTRIBUTE_INLINE CoordinatorCore::~CoordinatorCore() {
  if (std::uncaught_exceptions() > exceptions_) return;
  try {
    pool->finish();
    if (finish_job_) finish_job_();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "distribute: the coordinator could not end the job: %s\n", error.what());
  }
}

DISTRIBUTE_INLINE std::shared_ptr<CoordinatorCore> CoordinatorCore::of(
    Strategy& strategy, const std::function<std::shared_ptr<CoordinatorCore>()>& make) {
  CoordinatorTable& table = coordinator_table();
  const std::lock_guard lock(table.mutex);
  auto& entry = table.cores[&strategy];
  auto core = entry.lock();
  if (!core) entry = core = make();
  return core;
}

}  // namespace coordinator_internal

DISTRIBUTE_INLINE ClusterCoordinator::ClusterCoordinator(Strategy& strategy)
    : ClusterCoordinator(strategy, CoordinatorOptions::from_environment()) {}

DISTRIBUTE_INLINE ClusterCoordinator::ClusterCoordinator(Strategy& strategy,
                                                         const CoordinatorOptions&) {
  throw InvalidArgumentError(concat("ClusterCoordinator: only a ParameterServerStrategy has workers that it can "
                             "coordinate, got ", strategy.extended().name()));
}

DISTRIBUTE_INLINE int ClusterCoordinator::num_workers() const { return core_->pool->num_workers(); }

DISTRIBUTE_INLINE void ClusterCoordinator::put(coordinator_internal::ClosurePtr closure) {
  core_->pool->schedule(std::move(closure));
}

DISTRIBUTE_INLINE void ClusterCoordinator::join() { core_->pool->queue().wait(); }

DISTRIBUTE_INLINE bool ClusterCoordinator::done() { return core_->pool->queue().done(); }

DISTRIBUTE_INLINE PerWorkerDataset
ClusterCoordinator::make_dataset(const std::string& label, const std::string& registered) {
  using coordinator_internal::Recipe;
  const auto& pool = core_->pool;
  auto dataset =
      pool->make_resource(label, {.kind = Recipe::Kind::Dataset, .name = registered}, nullptr);
  const auto make_iterator = [weak = std::weak_ptr(pool), dataset, label] {
    const auto workers = weak.lock();
    if (!workers) throw FailedPreconditionError(label + ": its coordinator has ended");
    return PerWorkerValues<data::Iterator>(workers->make_resource(
        "iterator of " + label, {.kind = Recipe::Kind::Iterator, .name = {}}, dataset));
  };
  return PerWorkerDataset(dataset, make_iterator);
}

}  // namespace distribute
