#pragma once
/// ClusterCoordinator: schedules functions on workers and waits for their results.

#include <distribute/base/config.hpp>
#include <distribute/coordinator/detail/closure_argument.hpp>
#include <distribute/coordinator/detail/fetch.hpp>
#include <distribute/coordinator/per_worker_values.hpp>
#include <distribute/coordinator/remote_dataset.hpp>
#include <distribute/coordinator/remote_function.hpp>
#include <distribute/coordinator/remote_value.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace distribute {

/// Holds the options of coordinators. Times are in seconds; each comment ends with the environment
/// variable.
struct CoordinatorOptions {
  /// Largest number of waiting functions; schedule() blocks beyond.
  int64_t queue_size = 256 * 1024;
  /// Worker i begins after min(i * delay, maximum): TF_COORDINATOR_SCHEDULE_START_DELAY and
  /// TF_COORDINATOR_SCHEDULE_START_DELAY_MAX (0: no maximum).
  double schedule_start_delay = 0, schedule_start_delay_max = 0;
  /// Number of errors of one parameter server at which it counts as lost; earlier ones count as
  /// temporary: TF_COORDINATOR_IGNORE_TRANSIENT_PS_FAILURES.
  int ignore_transient_ps_failures = 3;
  /// This many timeouts are tolerated; -1 stands for a tenth of the workers. The default is
  /// TF_COORDINATOR_IGNORE_TRANSIENT_TIMEOUTS.
  int ignore_transient_timeouts = -1;
  /// Number of workers with which the job begins; the others of the cluster's list may come and
  /// leave at any time: DISTRIBUTE_MIN_WORKERS. 0: all must be there.
  int min_workers = 0;
  /// Time in which all workers, or min_workers, must be there: DISTRIBUTE_STARTUP_TIMEOUT.
  double startup_timeout = 300;
  double report_interval = 10;  // of those that are missing: DISTRIBUTE_REPORT_INTERVAL
  /// Time in which a lost worker may return: DISTRIBUTE_WORKER_RECOVERY_TIMEOUT.
  double worker_recovery_timeout = 3600;
  /// Time without an ended function after which a line says so: DISTRIBUTE_WATCHDOG_TIMEOUT.
  double watchdog_timeout = 300;
  /// Receives lines for users, from any thread; empty: stderr.
  std::function<void(const std::string&)> log = {};

  /// Prints to `log`, or as a message of the library if it is not set.
  void print(const std::string& line) const;
  /// Returns the defaults with the values that the environment sets.
  /// Throws  InvalidArgumentError that names the variable, its value and what is allowed.
  static CoordinatorOptions from_environment();
};

class Strategy;

namespace rpc {
class JobTask;
}

namespace coordinator_internal {

class WorkerPool;

/// State that all coordinators of one strategy share. When the last one is destroyed it tells the
/// workers that the job is done, unless an exception is in flight: then they wait for the
/// coordinator's return.
class CoordinatorCore {
 public:
  /// Watches `servers` until the coordinator ends.
  CoordinatorCore(Strategy& strategy, std::shared_ptr<WorkerPool> pool,
                  std::shared_ptr<void> servers = {});
  ~CoordinatorCore();
  CoordinatorCore(const CoordinatorCore&) = delete;
  CoordinatorCore& operator=(const CoordinatorCore&) = delete;

  /// Returns the strategy's core, or the one that `make` returns, which the strategy then keeps.
  static std::shared_ptr<CoordinatorCore> of(
      Strategy& strategy, const std::function<std::shared_ptr<CoordinatorCore>()>& make);

  Strategy& strategy;
  std::shared_ptr<void> servers;
  const std::shared_ptr<WorkerPool> pool;

 private:
  const int exceptions_;
};

/// Connects to the workers of the task's cluster, and watches its parameter servers.
/// Blocks and throws  as ClusterCoordinator.
std::shared_ptr<CoordinatorCore> connect_coordinator(Strategy& strategy,
                                                     const std::shared_ptr<rpc::JobTask>& task,
                                                     const CoordinatorOptions& options);

}  // namespace coordinator_internal

/// Runs RemoteFunctions on the workers, each at least once, on any worker that is free.
/// Thread-safe; coordinators of one strategy share all state. The strategy must outlive it.
/// Source  tf.distribute.experimental.coordinator.ClusterCoordinator
class ClusterCoordinator {
 public:
  /// Blocks  until all workers are there.
  /// Throws  InvalidArgumentError unless the strategy is a ParameterServerStrategy with a cluster,
  ///         and when a worker has registered other functions; UnavailableError that names the
  ///         missing workers.
  explicit ClusterCoordinator(Strategy& strategy);
  ClusterCoordinator(Strategy& strategy, const CoordinatorOptions& options);
  explicit ClusterCoordinator(std::shared_ptr<coordinator_internal::CoordinatorCore> core)
      : core_(std::move(core)) {}

  /// Returns the strategy of the constructor; num_workers() counts the workers of the job, also
  /// lost ones.
  Strategy& strategy() const { return core_->strategy; }
  int num_workers() const;
  /// Returns the number of workers that are not lost.
  int num_live_workers() const;

  /// Queues a call. Arguments are copied at once, and PerWorkerValues replaced by the element of
  /// the worker that runs it. If a worker fails in the middle of a function, it runs again as a
  /// whole.
  /// Blocks  while CoordinatorOptions::queue_size functions wait.
  /// Throws  the first error of any function since the last that was thrown; all other functions
  ///          are then cancelled, and the coordinator can be used again. InvalidArgumentError for a
  ///          RemoteValue among the arguments. UnavailableError, from every further call, when a
  ///          parameter server is lost: restart the coordinator, and restore the last checkpoint.
  template <typename R, typename... Params, typename... Args>
  RemoteValue<R> schedule(const RemoteFunction<R(Params...)>& function, const Args&... args);
  template <typename F, typename... Args>
  void schedule(const F&, const Args&...) {
    static_assert(!sizeof(F),
                  "schedule: a function must be registered in every process before it "
                  "can run on a worker: RemoteFunction step(\"step\", [&] { ... });");
  }

  /// Waits for all functions.
  /// Blocks  until all functions have ended; schedule() waits meanwhile.
  /// Throws  as schedule().
  void join();
  /// Returns whether all functions have ended. Throws  as schedule().
  bool done();

  /// Returns the local values of a RemoteValue, PerWorkerValues, or of a vector, tuple, pair or map
  /// that contains them; any other value unchanged.
  /// Blocks  until they have come.
  /// Throws  as RemoteValue::fetch.
  template <typename Nest>
  auto fetch(const Nest& nest) const {
    return coordinator_internal::Fetch<Nest>::of(nest);
  }

  /// Calls `fn(InputContext)`, or `fn()`, on every worker, and again on one that comes back. The
  /// datasets should be endless; each worker shuffles its own differently. Variables may not be
  /// created inside. Functions that use the dataset throw its error.
  template <DatasetFunction F>
  PerWorkerDataset create_per_worker_dataset(const F& fn);
  PerWorkerDataset create_per_worker_dataset(const RemoteDataset& dataset) {
    return create_per_worker_dataset(dataset.name());
  }
  /// Makes the datasets by the name under which the function is registered.
  PerWorkerDataset create_per_worker_dataset(const std::string& registered) {
    return make_dataset("dataset " + registered, registered);
  }

 private:
  void put(coordinator_internal::ClosurePtr closure);
  PerWorkerDataset make_dataset(const std::string& label, const std::string& registered);

  std::shared_ptr<coordinator_internal::CoordinatorCore> core_;
};

template <typename R, typename... Params, typename... Args>
RemoteValue<R> ClusterCoordinator::schedule(const RemoteFunction<R(Params...)>& function,
                                            const Args&... args) {
  static_assert(sizeof...(Params) == sizeof...(Args),
                "schedule: as many arguments as the remote function has parameters");
  auto closure = std::make_shared<coordinator_internal::Closure>();
  closure->method = "run";
  closure->label = function.name();
  (closure->arguments.push_back(
       coordinator_internal::closure_argument<Params>(function.name(), args)),
   ...);
  RemoteValue<R> result(closure->output);
  put(std::move(closure));
  return result;
}

template <DatasetFunction F>
PerWorkerDataset ClusterCoordinator::create_per_worker_dataset(const F&) {
  static_assert(coordinator_internal::StatelessDatasetFunction<F>,
                "a dataset function that captures something does not reach the workers: register "
                "it by name in every process before Server::join(), as in RemoteDataset "
                "train(\"train\", [&](const InputContext& input) { ... }); and pass that");
  using Type = coordinator_internal::DatasetType<F>;
  static_cast<void>(Type::added);  // registers it before main
  return make_dataset("dataset", Type::name());
}

}  // namespace distribute
