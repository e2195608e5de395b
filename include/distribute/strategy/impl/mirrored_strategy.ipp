#pragma once
#include <distribute/base/logging.hpp>
#include <distribute/collective/nccl_transport.hpp>
#include <distribute/strategy/all_workers.hpp>
#include <distribute/strategy/cross_device_ops.hpp>
#include <distribute/strategy/distributed_variable.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/strategy/worker_replica_context.hpp>

#include <cstdlib>

namespace distribute::strategy_internal {

/// The devices' replicas as the only worker, with a group of NCCL.
DISTRIBUTE_INLINE WorkerState meet_over_nccl(const std::vector<Device>& devices) {
  const collective::CommunicatorOptions options;
  auto group = std::move(collective::make_thread_workers(1, int(devices.size()), options)[0]);
  const auto deadline = net::Deadline::after_seconds(options.timeout_seconds);
  for (auto& transport : collective::make_nccl_transports(devices, deadline))
    group.gpus.push_back(std::make_shared<collective::Communicator>(std::move(transport)));
  return WorkerState(std::move(group), CommunicationOptions(), true, false);
}

DISTRIBUTE_INLINE MirroredExtended::MirroredExtended(
    std::vector<std::string> devices, std::shared_ptr<CrossDeviceOps> cross_device_ops)
    : LocalReplicas(check_devices(devices), std::move(cross_device_ops)) {
  if (const char* config = std::getenv("TF_CONFIG"); config && *config)
    log_info("strategy",
             "MirroredStrategy ignores TF_CONFIG; MultiWorkerMirroredStrategy trains on several "
             "workers");
  if (!reduces_its_own_way() || !suits_nccl(replica_devices())) return;
  try {
    nccl_ = std::make_unique<WorkerState>(meet_over_nccl(replica_devices()));
  } catch (const Error& error) {
    log_warning("strategy", concat("gradients are added by copies: ", error.what()));
  }
}

DISTRIBUTE_INLINE MirroredExtended::~MirroredExtended() = default;

DISTRIBUTE_INLINE std::unique_ptr<LocalReplicaContext> MirroredExtended::make_context(
    ReplicaGroup& group, int replica) {
  if (!nccl_) return LocalReplicas::make_context(group, replica);
  return std::make_unique<WorkerReplicaContext>(strategy(), group, replica, *nccl_);
}

/// A group that was aborted stays so: the next run has a new one.
DISTRIBUTE_INLINE void MirroredExtended::begin_run() {
  if (!has_failed_) return;
  WorkerState fresh = meet_over_nccl(replica_devices());
  nccl_->buckets.clear();  // sums under way use what goes now
  *nccl_ = std::move(fresh);
  has_failed_ = false;
}

/// The others must not wait for a replica that will not come.
DISTRIBUTE_INLINE void MirroredExtended::replica_failed(const std::exception_ptr& error) {
  if (!nccl_) return;
  const auto [code, message] = describe_failure(error);
  nccl_->group.abort(code, message);
  has_failed_ = true;
}

DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> MirroredExtended::make_variable(
    const NextCreator& next, const Variable::Initializer& initial_value,
    const VariableOptions& options) {
  const Tensor first = next(initial_value, options)->component(0);
  const VariableOptions checked = check_variable_options(options, first.dtype());
  return make_copies(first, checked);
}

DISTRIBUTE_INLINE std::unique_ptr<StrategyExtended> make_mirrored(
    std::vector<std::string> default_devices, const MirroredOptions& options) {
  if (options.num_replicas && !options.devices.empty())
    throw InvalidArgumentError("MirroredStrategy: give num_replicas or devices, not both");
  return std::make_unique<MirroredExtended>(
      options.devices.empty() ? std::move(default_devices) : options.devices,
      options.cross_device_ops);
}

}  // namespace distribute::strategy_internal
