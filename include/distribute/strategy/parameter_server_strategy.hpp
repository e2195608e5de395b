#pragma once
/// ParameterServerStrategy, its backup workers, and a cache for reads of variables.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/parameter_server/variable_spec.hpp>
#include <distribute/strategy/devices.hpp>
#include <distribute/strategy/parameter_server_job.hpp>
#include <distribute/strategy/sharded_variable.hpp>
#include <distribute/strategy/strategy.hpp>

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

/// Synchronous training with parameter servers.
/// Source  tf.compat.v1.train.SyncReplicasOptimizer
struct SyncReplicas {
  int replicas_to_aggregate = 1;  // gradients that make a step; their mean is applied
  int total_num_replicas = 0;     // more than that: backup workers; 0: the same number
  /// Tokens that are there at the start; -1: replicas_to_aggregate, as in TensorFlow, so that the
  /// second gradients of all workers are stale and dropped. With 0 every gradient counts.
  int num_init_tokens = -1;
};

/// While it lives, each variable on a server that the calling thread reads keeps the value of its
/// first read, also across writes.
/// Throws  FailedPreconditionError inside another one.
/// Source  tf.distribute cache_variable_reads
class [[nodiscard]] CacheVariableReads {
 public:
  CacheVariableReads();
  ~CacheVariableReads();
  CacheVariableReads(const CacheVariableReads&) = delete;
  CacheVariableReads& operator=(const CacheVariableReads&) = delete;
};

/// Options of ParameterServerStrategy; they must be equal on all tasks.
struct ParameterServerOptions {
  /// Which variables are cut into shards; none by default.
  VariablePartitioner variable_partitioner = {};
  /// Replicas of a worker, on that many logical devices: GPUs, or CPUs where there is none; 0: all
  /// of them.
  int num_replicas = 0;
  /// How variables find their servers: one after the other as TensorFlow 2, or by bytes.
  parameter_server::Placement placement = parameter_server::Placement::RoundRobin;
  /// Instead: chooses the task for each variable, heeding device scopes such as
  /// device("/job:ps/task:1"). Without it the strategy wins over all scopes.
  train::DeviceFunction device_setter = nullptr;
  /// Synchronous steps; without it every gradient is applied when it comes.
  std::optional<SyncReplicas> sync_replicas = {};
  /// Age of the weights, in steps, above which a gradient is dropped: apply_gradients gives -1,
  /// and the worker goes on with new weights. -1: any age will do. Pushes that are being applied
  /// while weights are read count as if those had them.
  int64_t max_staleness = -1;
  /// Updates of one piece exclude each other and readers; false: the fastest, with torn reads.
  bool use_locking = true;
  /// Gradients and values travel as bfloat16; servers keep float32.
  bool bf16_on_wire = false;
};

namespace strategy_internal {

/// What a task of this type computes on. Only workers must have the GPUs that `Kind` asks for: a
/// server computes nothing, and a chief may only give out work.
template <typename Kind>
std::vector<std::string> devices_of_task(const std::string& type, int count) {
  const char* const strategy = "ParameterServerStrategy";
  if (type == "ps") return devices_of(CpuDevice(), 1, strategy);
  if (type == "chief" && std::same_as<Kind, GpuDevice>)
    return devices_of(DefaultDevice(), count, strategy);
  return devices_of(Kind(), count, strategy);
}

/// `resolver` null: what the environment implies, which may be no cluster. `devices_of`: of a task
/// of this type.
StrategyParts join_servers(
    std::shared_ptr<ClusterResolver> resolver,
    const std::function<std::vector<std::string>(const std::string& type)>& devices_of,
    const ParameterServerOptions& options);

}  // namespace strategy_internal

/// Run the same program on every task: parameter servers keep the variables (`Server(strategy).
/// join()`), the chief, or worker 0 where there is none, gives them their first values, and either
/// every worker runs its own loop, or the chief gives out functions with a ClusterCoordinator.
/// Without a cluster variables are on the CPU and everything else is in this process. Workers may
/// die and come back; num_replicas_in_sync() counts one worker's replicas.
/// Blocks  in the constructor of chief and workers, until all servers are there; in the destructor,
///         until what was pushed is applied.
/// Throws  InvalidArgumentError for a cluster or task that makes no sense; what JobTask::start
///         throws; DeadlineExceededError for servers that do not come. Later a server that is lost
///         is an UnavailableError.
/// Source  tf.distribute.ParameterServerStrategy
template <typename Kind = DefaultDevice>
class ParameterServerStrategy : public Strategy {  // as a type: ParameterServerStrategy<>
 public:
  explicit ParameterServerStrategy(EmptyBraces) : ParameterServerStrategy() {}
  explicit ParameterServerStrategy(const ParameterServerOptions& options = {})
      : ParameterServerStrategy(std::shared_ptr<ClusterResolver>(), options) {}
  /// With your own resolver, which must name a cluster and outlive the strategy.
  explicit ParameterServerStrategy(ClusterResolver& resolver,
                                   const ParameterServerOptions& options = {})
      : ParameterServerStrategy(
            std::shared_ptr<ClusterResolver>(std::shared_ptr<void>(), &resolver), options) {}
  /// With a resolver that the strategy keeps; null: what the environment implies.
  ParameterServerStrategy(std::shared_ptr<ClusterResolver> resolver,
                          const ParameterServerOptions& options)
      : Strategy(strategy_internal::join_servers(
            std::move(resolver),
            [&](const std::string& type) {
              return strategy_internal::devices_of_task<Kind>(type, options.num_replicas);
            },
            options)) {}
};

ParameterServerStrategy(ParameterServerOptions)->ParameterServerStrategy<DefaultDevice>;
ParameterServerStrategy(ClusterResolver&)->ParameterServerStrategy<DefaultDevice>;
ParameterServerStrategy(ClusterResolver&, ParameterServerOptions)
    ->ParameterServerStrategy<DefaultDevice>;

}  // namespace distribute
