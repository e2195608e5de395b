#pragma once
#include <distribute/device/detail/cuda_staging.hpp>
#include <distribute/device/placement.hpp>
#include <distribute/strategy/central_storage_strategy.hpp>
#include <distribute/strategy/detail/central_reducer.hpp>
#include <distribute/strategy/detail/central_storage_extended.hpp>
#include <distribute/strategy/detail/device_copies.hpp>
#include <distribute/strategy/devices.hpp>
#include <distribute/strategy/distributed_variable.hpp>

namespace distribute {

namespace strategy_internal {

DISTRIBUTE_INLINE std::vector<std::string> compute_devices(const CentralStorageOptions& options) {
  if (options.num_replicas && !options.compute_devices.empty())
    throw InvalidArgumentError(
        "CentralStorageStrategy: give num_replicas or compute_devices, not both");
  return check_devices(
      options.compute_devices.empty()
          ? devices_of(DefaultDevice(), options.num_replicas, "CentralStorageStrategy")
          : options.compute_devices);
}

DISTRIBUTE_INLINE CentralStorageExtended::CentralStorageExtended(
    const CentralStorageOptions& options)
    : LocalReplicas(compute_devices(options), nullptr) {
  tell_of_missing_gpus();
  record_runs(name());
  const std::vector<std::string> devices = worker_devices();
  parameter_device_ = devices.size() == 1 ? devices[0] : device_internal::full_name(Device{});
  if (!options.parameter_device.empty())
    parameter_device_ = device_internal::full_name(
        parse_device_name(check_devices({options.parameter_device}).front()).device);
  std::vector<Device> all = replica_devices();
  all.push_back(home());
  staging_ = staging_for(all);
}

DISTRIBUTE_INLINE Device CentralStorageExtended::home() const {
  return parse_device_name(parameter_device_).device;
}

DISTRIBUTE_INLINE std::unique_ptr<replica_internal::GradientReducer>
CentralStorageExtended::make_reducer(LocalReplicaContext& context) {
  if (!staging_) return LocalReplicas::make_reducer(context);
  return std::make_unique<CentralReducer>(context, home(), staging_);
}

DISTRIBUTE_INLINE std::shared_ptr<VariableImpl> CentralStorageExtended::make_variable(
    const NextCreator& next, const Variable::Initializer& initial_value,
    const VariableOptions& options) {
  const DeviceScope device(home());
  const Tensor first = next(initial_value, options)->component(0);
  const VariableOptions checked = check_variable_options(options, first.dtype());
  auto made = std::make_shared<AggregatingVariable>(first, checked, strategy(), home(), staging_);
  made->name_cpus({parameter_device_});
  return made;
}

}  // namespace strategy_internal

DISTRIBUTE_INLINE CentralStorageStrategy::CentralStorageStrategy(
    const CentralStorageOptions& options)
    : Strategy(std::make_unique<strategy_internal::CentralStorageExtended>(options)) {}

}  // namespace distribute
