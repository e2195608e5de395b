#pragma once
/// Synchronous training on many workers: every replica of every worker makes the same step.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/cluster/cluster_options.hpp>
#include <distribute/collective/communication_options.hpp>
#include <distribute/strategy/devices.hpp>
#include <distribute/strategy/strategy.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace distribute {

struct MultiWorkerOptions {  // options of MultiWorkerMirroredStrategy
  CommunicationOptions communication_options = {};
  /// Number of local replicas, the same on all workers. 0: every visible GPU, or else every logical
  /// CPU device.
  int num_replicas = 0;
  /// Further settings that must be equal on all workers, such as the program's flags, by name.
  std::map<std::string, std::string> must_agree = {};
  /// With min_workers set, workers may leave and join while the job runs. The strategy's
  /// constructor then does not wait, and the strategy has only this worker's replicas until a
  /// train::ElasticLoop runs.
  ElasticOptions elastic = {};
  /// Cuts the slots of optimizers (moments, accumulators, moving averages of weights) into as many
  /// slices as there are replicas, so that each worker keeps its own and no copy of the others:
  /// gradients are reduce-scattered, each replica updates its slice of every variable, and the
  /// weights are all-gathered. Weights, checkpoints and every bit of them are as without. A slot is
  /// gathered where it is read, so that all workers must read it together, outside of run().
  /// Optimizers that take norms of whole variables (Lamb) are refused at their first step. It must
  /// be equal on all workers.
  /// Source  ZeRO stage 1, Rajbhandari et al., SC 2020
  bool shard_optimizer_state = false;
};

namespace strategy_internal {

/// Joins the cluster. A null `resolver` stands for the one that the environment implies.
StrategyParts join_cluster(std::shared_ptr<ClusterResolver> resolver,
                           std::vector<std::string> devices, const MultiWorkerOptions& options);

}  // namespace strategy_internal

/// Trains one model on the replicas of many workers. Run the same program on every worker of
/// TF_CONFIG (or of Slurm, torchrun, mpirun, ...). Without a cluster it trains on this process
/// alone. Variables start with the chief's values; gradients are summed over all replicas in rank
/// order, so the result does not depend on the division of replicas among workers, on transports or
/// on timing. Gradients of GPUs are summed when the backward pass is over: over NCCL, which chooses
/// the order of the sum, else in host memory.
/// Blocks  in the constructor, until all workers have come; in the destructor, until all have ended
///          or the timeout is over.
/// Throws  InvalidArgumentError for an inconsistent cluster or task, and for shard_optimizer_state
///         with elastic workers; UnimplementedError for it on GPUs; what ClusterRuntime::join
///          throws; FailedPreconditionError with the difference when workers were started with
///          different options. Later a lost or failed worker causes an UnavailableError, or its own
///          error, on all workers.
/// Source  tf.distribute.MultiWorkerMirroredStrategy
template <typename Kind = DefaultDevice>
class MultiWorkerMirroredStrategy : public Strategy {  // as a type: MultiWorkerMirroredStrategy<>
 public:
  explicit MultiWorkerMirroredStrategy(EmptyBraces) : MultiWorkerMirroredStrategy() {}
  explicit MultiWorkerMirroredStrategy(const MultiWorkerOptions& options = {})
      : MultiWorkerMirroredStrategy(std::shared_ptr<ClusterResolver>(), options) {}
  /// Joins with your own resolver, which must outlive the strategy.
  explicit MultiWorkerMirroredStrategy(ClusterResolver& resolver,
                                       const MultiWorkerOptions& options = {})
      : MultiWorkerMirroredStrategy(
            std::shared_ptr<ClusterResolver>(std::shared_ptr<void>(), &resolver), options) {}
  /// Joins with a resolver that the strategy keeps; null stands for the one that the environment
  /// implies.
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
