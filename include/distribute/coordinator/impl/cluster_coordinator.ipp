#pragma once
#include <distribute/base/process_state.hpp>
#include <distribute/cluster/cluster_spec.hpp>
#include <distribute/coordinator/cluster_coordinator.hpp>
#include <distribute/coordinator/detail/rpc_worker_link.hpp>
#include <distribute/coordinator/detail/worker_pool.hpp>
#include <distribute/rpc/job_task.hpp>
#include <distribute/strategy/detail/parameter_server_extended.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/strategy/parameter_server_strategy.hpp>

#include <exception>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace distribute {

namespace coordinator_internal {

/// The coordinators there are.
struct CoordinatorTable {
  std::mutex mutex;  // guards the other
  std::map<const Strategy*, std::weak_ptr<CoordinatorCore>> cores;
};

DISTRIBUTE_INLINE CoordinatorTable& coordinator_table() { return in_process<CoordinatorTable>(); }

DISTRIBUTE_INLINE CoordinatorCore::CoordinatorCore(Strategy& of_strategy,
                                                   std::shared_ptr<WorkerPool> workers,
                                                   std::shared_ptr<void> of_servers)
    : strategy(of_strategy),
      servers(std::move(of_servers)),
      pool(std::move(workers)),
      exceptions_(std::uncaught_exceptions()) {}

DISTRIBUTE_INLINE CoordinatorCore::~CoordinatorCore() {
  if (std::uncaught_exceptions() > exceptions_) return;
  servers.reset();  // those that end from now on are not lost
  pool->finish();
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

/// Ends the pool's work when a parameter server is lost, as its variables are.
class ServerWatch {
 public:
  ServerWatch(std::shared_ptr<rpc::JobTask> task, std::weak_ptr<WorkerPool> pool)
      : task_(std::move(task)), pool_(std::move(pool)) {
    if (!task_->cluster().has_job("ps")) return;
    const auto deadline = net::Deadline::after_seconds(task_->options().startup_timeout);
    for (const int index : task_->cluster().task_indices("ps"))
      watch(task_->peer("ps", index, deadline));
  }
  ~ServerWatch() {
    for (const auto& [peer, callback] : watched_) peer->remove_on_lost(callback);
  }
  ServerWatch(const ServerWatch&) = delete;
  ServerWatch& operator=(const ServerWatch&) = delete;

 private:
  void watch(const std::shared_ptr<rpc::Peer>& peer) {
    rpc::Peer* const server = peer.get();  // it is alive when it calls back
    const auto lost = [pool = pool_, server] {
      const auto workers = pool.lock();
      if (workers) workers->break_for_good(lost_server(*server));
    };
    watched_.emplace_back(peer, peer->on_lost(lost));
  }
  static std::exception_ptr lost_server(const rpc::Peer& server) {
    try {
      server.throw_if_lost();
    } catch (const Error& error) {
      return std::make_exception_ptr(UnavailableError(
          str_cat(error.what(),
                  ". When it has ended, its variables are lost with it: start the parameter server "
                  "and the coordinator again, and restore the last checkpoint")));
    }
    return nullptr;
  }

  std::shared_ptr<rpc::JobTask> task_;
  std::weak_ptr<WorkerPool> pool_;
  std::vector<std::pair<std::shared_ptr<rpc::Peer>, int>> watched_;
};

DISTRIBUTE_INLINE std::shared_ptr<CoordinatorCore> connect_coordinator(
    Strategy& strategy, const std::shared_ptr<rpc::JobTask>& task,
    const CoordinatorOptions& options) {
  auto pool = std::make_shared<WorkerPool>(links_to_workers(task), options);
  auto servers = std::make_shared<ServerWatch>(task, pool);
  pool->start();
  return std::make_shared<CoordinatorCore>(strategy, std::move(pool), std::move(servers));
}

/// The strategy's own end tells the parameter servers that the job is done.
DISTRIBUTE_INLINE std::shared_ptr<CoordinatorCore> core_of(Strategy& strategy,
                                                           const CoordinatorOptions& options) {
  auto* const servers = strategy_internal::parameter_server_extended(strategy);
  if (!servers)
    throw InvalidArgumentError(str_cat(
        "ClusterCoordinator: only a ParameterServerStrategy has workers to coordinate, got ",
        strategy.extended().name()));
  const auto& job = servers->job();
  if (!job.task)
    throw InvalidArgumentError(
        "ClusterCoordinator: the ParameterServerStrategy has no cluster, so there are no workers");
  if (job.type != TaskType::Chief)
    throw InvalidArgumentError(str_cat("ClusterCoordinator: the chief coordinates, but this is ",
                                       job.type, " ", job.index,
                                       "; here `return Server(strategy).join();` serves it"));
  return CoordinatorCore::of(strategy, [&] {
    servers->set_coordinated();
    return connect_coordinator(strategy, job.task, options);
  });
}

}  // namespace coordinator_internal

DISTRIBUTE_INLINE ClusterCoordinator::ClusterCoordinator(Strategy& strategy)
    : ClusterCoordinator(strategy, CoordinatorOptions::from_environment()) {}

DISTRIBUTE_INLINE ClusterCoordinator::ClusterCoordinator(Strategy& strategy,
                                                         const CoordinatorOptions& options)
    : core_(coordinator_internal::core_of(strategy, options)) {}

DISTRIBUTE_INLINE int ClusterCoordinator::num_workers() const { return core_->pool->num_workers(); }

DISTRIBUTE_INLINE int ClusterCoordinator::num_live_workers() const {
  return core_->pool->num_live_workers();
}

DISTRIBUTE_INLINE void ClusterCoordinator::put(coordinator_internal::ClosurePtr closure) {
  core_->pool->schedule(std::move(closure));
}

DISTRIBUTE_INLINE void ClusterCoordinator::join() { core_->pool->queue().wait(); }

DISTRIBUTE_INLINE bool ClusterCoordinator::done() { return core_->pool->queue().done(); }

DISTRIBUTE_INLINE PerWorkerDataset ClusterCoordinator::make_dataset(const std::string& label,
                                                                    const std::string& registered) {
  using coordinator_internal::Recipe;
  const auto& pool = core_->pool;
  auto dataset =
      pool->make_resource(label, {.kind = Recipe::Kind::Dataset, .name = registered}, nullptr);
  const auto make_iterator = [weak = std::weak_ptr(pool), dataset, label](bool distributed) {
    const auto workers = weak.lock();
    if (!workers) throw FailedPreconditionError(label + ": its coordinator has ended");
    const auto kind = distributed ? Recipe::Kind::DistributedIterator : Recipe::Kind::Iterator;
    return workers->make_resource("iterator of " + label, {.kind = kind, .name = {}}, dataset);
  };
  return PerWorkerDataset(dataset, make_iterator);
}

}  // namespace distribute
