#pragma once
/// ParameterServerStrategy with backup workers, and a cache for reads of variables.

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
  int replicas_to_aggregate = 1;  // number of gradients that form a step; their mean is applied
  int total_num_replicas = 0;     // 0: replicas_to_aggregate; a larger number adds backup workers
  /// Number of tokens at the start; -1: replicas_to_aggregate, as in TensorFlow, so that the second
  /// gradients of all workers are stale and dropped. With 0 every gradient counts.
  int num_init_tokens = -1;
};

/// Keeps, while it lives, the first value that the calling thread reads of each variable on a
/// server, also across writes.
/// Throws  FailedPreconditionError inside another one.
/// Source  tf.distribute cache_variable_reads
class [[nodiscard]] CacheVariableReads {
 public:
  CacheVariableReads();
  ~CacheVariableReads();
  CacheVariableReads(const CacheVariableReads&) = delete;
  CacheVariableReads& operator=(const CacheVariableReads&) = delete;
};

/// Holds the options of ParameterServerStrategy; they must be equal on all tasks.
struct ParameterServerOptions {
  /// Cuts variables into shards; none by default.
  VariablePartitioner variable_partitioner = {};
  /// Number of replicas of a worker, each on a logical device: GPUs, or CPUs if there are no GPUs;
  /// 0: all of them.
  int num_replicas = 0;
  /// How variables are assigned to servers: in turn as in TensorFlow 2, or by bytes.
  parameter_server::Placement placement = parameter_server::Placement::RoundRobin;
  /// Chooses the task for each variable in place of `placement`, observing device scopes such as
  /// device("/job:ps/task:1"). Without it the strategy ignores scopes.
  train::DeviceFunction device_setter = nullptr;
  /// Makes steps synchronous; unset: every gradient is applied when it arrives.
  std::optional<SyncReplicas> sync_replicas = {};
  /// Age of the weights, in steps, above which a gradient is dropped: apply_gradients then returns
  /// -1, and the worker continues with new weights. -1: no limit. Gradients that are being applied
  /// while weights are read count as contained in these.
  int64_t max_staleness = -1;
  /// Updates of one piece exclude each other and reads. With false they are fastest, but reads may
  /// see half-updated values.
  bool use_locking = true;
  /// Sends gradients and values as bfloat16; servers keep float32.
  bool bf16_on_wire = false;
};

namespace strategy_internal {

/// Returns the devices of a task of this type. Only workers must have the GPUs that `Kind` asks
/// for: a server computes nothing, and a chief may only distribute work.
template <typename Kind>
std::vector<std::string> devices_of_task(const std::string& type, int count) {
  const char* const strategy = "ParameterServerStrategy";
  if (type == "ps") return devices_of(CpuDevice(), 1, strategy);
  if (type == "chief" && std::same_as<Kind, GpuDevice>)
    return devices_of(DefaultDevice(), count, strategy);
  return devices_of(Kind(), count, strategy);
}

/// A null `resolver` stands for the one that the environment implies, which may have no cluster.
/// `devices_of` returns the devices of a task of the given type.
StrategyParts join_servers(
    std::shared_ptr<ClusterResolver> resolver,
    const std::function<std::vector<std::string>(const std::string& type)>& devices_of,
    const ParameterServerOptions& options);

}  // namespace strategy_internal

/// Keeps the variables on parameter servers. Run the same program on every task: parameter servers
/// keep the variables (`Server(strategy).join()`), the chief, or worker 0 if there is no chief,
/// gives them their first values, and either every worker runs its own loop, or the chief sends
/// functions to workers with a ClusterCoordinator. Without a cluster variables are on the CPU and
/// everything else is in this process. Workers may fail and be restarted; num_replicas_in_sync()
/// counts one worker's replicas.
/// Blocks  in the constructor of chief and workers, until all servers are there; in the destructor,
///          until the pushed gradients are applied.
/// Throws  InvalidArgumentError for an inconsistent cluster or task; what JobTask::start throws;
///          DeadlineExceededError for servers that do not come. Later a lost server causes an
///          UnavailableError.
/// Source  tf.distribute.ParameterServerStrategy
template <typename Kind = DefaultDevice>
class ParameterServerStrategy : public Strategy {  // as a type: ParameterServerStrategy<>
 public:
  explicit ParameterServerStrategy(EmptyBraces) : ParameterServerStrategy() {}
  explicit ParameterServerStrategy(const ParameterServerOptions& options = {})
      : ParameterServerStrategy(std::shared_ptr<ClusterResolver>(), options) {}
  /// Joins with your own resolver, which must name a cluster and outlive the strategy.
  explicit ParameterServerStrategy(ClusterResolver& resolver,
                                   const ParameterServerOptions& options = {})
      : ParameterServerStrategy(
            std::shared_ptr<ClusterResolver>(std::shared_ptr<void>(), &resolver), options) {}
  /// Joins with a resolver that the strategy keeps; null stands for the one that the environment
  /// implies.
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
