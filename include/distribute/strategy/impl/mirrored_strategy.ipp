#pragma once
#include <distribute/strategy/cross_device_ops.hpp>
#include <distribute/strategy/detail/mirrored_extended.hpp>
#include <distribute/strategy/detail/nccl_replicas.hpp>
#include <distribute/strategy/distributed_variable.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>

#include <cstdlib>
#include <utility>

namespace distribute::strategy_internal {

DISTRIBUTE_INLINE MirroredExtended::MirroredExtended(
    std::vector<std::string> devices, std::shared_ptr<CrossDeviceOps> cross_device_ops)
    : LocalReplicas(check_devices(devices), std::move(cross_device_ops)) {
  tell_of_missing_gpus();
  record_runs(name());
  if (reduces_its_own_way() && suits_nccl(replica_devices()))
    nccl_ = NcclReplicas::meet(replica_devices());
}

DISTRIBUTE_INLINE MirroredExtended::~MirroredExtended() { forget_contexts(); }

DISTRIBUTE_INLINE std::unique_ptr<LocalReplicaContext> MirroredExtended::make_context(
    ReplicaGroup& group, int replica) {
  return nccl_ ? nccl_->make_context(strategy(), group, replica)
               : LocalReplicas::make_context(group, replica);
}

DISTRIBUTE_INLINE std::unique_ptr<replica_internal::GradientReducer> MirroredExtended::make_reducer(
    LocalReplicaContext& context) {
  return nccl_ ? nccl_->make_reducer(context) : LocalReplicas::make_reducer(context);
}

DISTRIBUTE_INLINE std::string MirroredExtended::recording_problem() const {
  if (nccl_ || num_replicas_in_sync() == 1) return {};
  return "several replicas step together, whose gradients are added by copies: NCCL adds those of "
         "GPUs of their own, not of logical ones";
}

DISTRIBUTE_INLINE void MirroredExtended::begin_run() {
  if (nccl_) nccl_->begin_run([this] { forget_contexts(); });
}

DISTRIBUTE_INLINE void MirroredExtended::replica_failed(const std::exception_ptr& error,
                                                        const std::atomic<int>&) {
  if (nccl_) nccl_->replica_failed(error);
}

DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> MirroredExtended::make_variable(
    const NextCreator& next, const Variable::Initializer& initial_value,
    const VariableOptions& options) {
  const Tensor first = next(initial_value, options)->component(0);
  const VariableOptions checked = check_variable_options(options, first.dtype());
  return make_copies(first, checked);
}

DISTRIBUTE_INLINE std::unique_ptr<StrategyExtended> make_mirrored(
    const MirroredOptions& options,
    const std::function<std::vector<std::string>()>& default_devices) {
  if (options.num_replicas && !options.devices.empty())
    throw InvalidArgumentError("MirroredStrategy: give num_replicas or devices, not both");
  std::vector<std::string> devices = options.devices.empty() ? default_devices() : options.devices;
  if (options.shard_optimizer_state) check_sharded_devices("MirroredStrategy", devices);
  return std::make_unique<MirroredExtended>(std::move(devices), options.cross_device_ops);
}

}  // namespace distribute::strategy_internal
