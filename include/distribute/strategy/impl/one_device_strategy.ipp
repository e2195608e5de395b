#pragma once
#include <distribute/base/detail/flush_subnormals.hpp>
#include <distribute/device/detail/cuda_trace.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/strategy/detail/single_replica_extended.hpp>
#include <distribute/strategy/devices.hpp>
#include <distribute/strategy/distributed_variable.hpp>
#include <distribute/strategy/one_device_strategy.hpp>

namespace distribute {

namespace strategy_internal {

DISTRIBUTE_INLINE std::unique_ptr<StrategyExtended> make_default_extended() {
  return std::make_unique<DefaultExtended>();
}

DISTRIBUTE_INLINE void SingleReplicaExtended::call_for_each_replica(
    const std::function<void(ReplicaContext&)>& fn) {
  check_cross_replica("run");
  const bool is_default = is_default_strategy(&strategy());
  // In another strategy's scope the default strategy's run needs its own scope to be the current
  // one.
  std::optional<Scope> scope;
  if (!is_default || has_strategy()) scope.emplace(strategy());
  SingleReplicaContext context(&strategy());
  const replica_internal::ModeScope mode({&context, &strategy(), -1});
  const FlushSubnormals flush;
  fn(context);
}

DISTRIBUTE_INLINE bool SingleReplicaExtended::variable_created_in_scope(
    const Variable& variable) const {
  return !dynamic_cast<const DistributedVariable*>(&variable.impl());
}

DISTRIBUTE_INLINE std::vector<std::string> DefaultExtended::worker_devices() const {
  throw FailedPreconditionError("worker_devices: the default strategy has no devices of its own");
}
DISTRIBUTE_INLINE std::vector<std::string> DefaultExtended::parameter_devices() const {
  throw FailedPreconditionError(
      "parameter_devices: the default strategy has no devices of its own");
}

DISTRIBUTE_INLINE OneDeviceExtended::OneDeviceExtended(const std::string& device)
    : device_(check_devices({device}).front()), spans_(name(), 1) {}

DISTRIBUTE_INLINE std::vector<std::string> OneDeviceExtended::worker_devices() const {
  return {device_internal::full_name(replica_devices()[0])};
}

DISTRIBUTE_INLINE std::vector<Device> OneDeviceExtended::replica_devices() const {
  return {parse_device_name(device_).device};
}

DISTRIBUTE_INLINE void OneDeviceExtended::call_for_each_replica(
    const std::function<void(ReplicaContext&)>& fn) {
  const monitoring::RecordedSpan span = spans_.run();
  const profiler::experimental::Trace trace("run");
  const DeviceScope device(parse_device_name(device_).device);
  SingleReplicaExtended::call_for_each_replica(fn);
}

DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> OneDeviceExtended::create_variable(
    const NextCreator& next, const Variable::Initializer& initial_value,
    const VariableOptions& options) {
  const Device device = parse_device_name(device_).device;
  const DeviceScope scope(device);
  const auto placed = [&] {
    const Tensor value = initial_value();
    const bool stays = is_gpu(device) && value.shape().rank() == 0;
    return stays ? value : value.to(device);  // single numbers stay on the host
  };
  return next(placed, options);
}

}  // namespace strategy_internal

DISTRIBUTE_INLINE OneDeviceStrategy::OneDeviceStrategy(const std::string& device)
    : Strategy(std::make_unique<strategy_internal::OneDeviceExtended>(device)) {}

}  // namespace distribute
