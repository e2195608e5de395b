#pragma once
/// Synchronous training on many workers: every replica of every worker makes the same step.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/cluster/elastic_options.hpp>
#include <distribute/collective/communication_options.hpp>
#include <distribute/strategy/devices.hpp>
#include <distribute/strategy/strategy.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace distribute {

struct MultiWorkerOptions {  // of MultiWorkerMirroredStrategy
  CommunicationOptions communication_options = {};
  /// Local replicas; the same on all workers. 0: every visible GPU, or else every logical CPU
  /// device.
  int num_replicas = 0;
  /// What else must be the same on all workers, such as the program's flags: name and value.
  std::map<std::string, std::string> must_agree = {};
  /// With min_workers: workers may leave and join while the job runs. The strategy then does not
  /// wait when it is made, and has this worker's replicas alone until a train::ElasticLoop runs.
  ElasticOptions elastic = {};
};

namespace strategy_internal {

/// Joins the cluster. `resolver` null: what the environment implies.
StrategyParts join_cluster(std::shared_ptr<ClusterResolver> resolver,
                           std::vector<std::string> devices, const MultiWorkerOptions& options);

}  // namespace strategy_internal

/// Run the same program on every worker of TF_CONFIG (or of Slurm, torchrun, mpirun, ...). Without
/// a cluster it trains on this process alone. Variables start with the chief's values; gradients
/// are summed over all replicas in rank order, so the result does not depend on how replicas are
/// dealt to workers, on transports or on timing. Gradients of GPUs are summed when the backward
/// pass is over: over NCCL, which chooses the order of the sum, else in host memory.
/// Blocks  in the constructor, until all workers have come; in the destructor, until all have ended
///         or the time for it is over.
/// Throws  InvalidArgumentError for a cluster or task that makes no sense; what
///         ClusterRuntime::join throws; FailedPreconditionError with the difference when workers
///         were started with different options. Later a worker that is lost or fails is an
///         UnavailableError, or its own error, on all workers.
/// Source  tf.distribute.MultiWorkerMirroredStrategy
template <typename Kind = DefaultDevice>
class MultiWorkerMirroredStrategy : public Strategy {  // as a type: MultiWorkerMirroredStrategy<>
 public:
  explicit MultiWorkerMirroredStrategy(EmptyBraces) : MultiWorkerMirroredStrategy() {}
  explicit MultiWorkerMirroredStrategy(const MultiWorkerOptions& options = {})
      : MultiWorkerMirroredStrategy(std::shared_ptr<ClusterResolver>(), options) {}
  /// With your own resolver; it must outlive the strategy.
  explicit MultiWorkerMirroredStrategy(ClusterResolver& resolver,
                                       const MultiWorkerOptions& options = {})
      : MultiWorkerMirroredStrategy(
            std::shared_ptr<ClusterResolver>(std::shared_ptr<void>(), &resolver), options) {}
  /// With a resolver that the strategy keeps; null: what the environment implies.
  MultiWorkerMirroredStrategy(std::shared_ptr<ClusterResolver> resolver,
                              const MultiWorkerOptions& options)
      : Strategy(strategy_internal::join_cluster(
            std::move(resolver),
            strategy_internal::devices_of(Kind(), options.num_replicas,
                                          "MultiWorkerMirroredStrategy"),
            options)) {}
};

MultiWorkerMirroredStrategy(MultiWorkerOptions)->MultiWorkerMirroredStrategy<DefaultDevice>;
MultiWorkerMirroredStrategy(ClusterResolver&)->MultiWorkerMirroredStrategy<DefaultDevice>;
MultiWorkerMirroredStrategy(ClusterResolver&, MultiWorkerOptions)
    ->MultiWorkerMirroredStrategy<DefaultDevice>;

}  // namespace distribute
