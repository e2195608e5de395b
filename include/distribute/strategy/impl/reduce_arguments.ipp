#pragma once
#include <distribute/device/device_spec.hpp>
#include <distribute/strategy/cross_device_ops.hpp>
#include <distribute/strategy/devices.hpp>
#include <distribute/strategy/distributed_variable.hpp>

namespace distribute {

DISTRIBUTE_INLINE ReduceValue::ReduceValue(const Variable& variable) : kind(Kind::Single) {
  const VariableImpl& impl = variable.impl();
  if (dynamic_cast<const MirroredVariable*>(&impl)) kind = Kind::Mirrored;
  if (dynamic_cast<const SyncOnReadVariable*>(&impl)) kind = Kind::PerReplica;
  if (kind == Kind::Single) values.push_back(variable.read_value());
  for (int i = 0; kind != Kind::Single && i < impl.num_components(); ++i)
    values.push_back(impl.component(i));
}

DISTRIBUTE_INLINE Destinations::Destinations(const std::string& device)
    : devices{strategy_internal::parse_device_name(device).device} {
  DeviceSpec process = DeviceSpec::from_string(device);
  process.device_type.reset();
  process.device_index.reset();
  task = process.to_string();
}
DISTRIBUTE_INLINE Destinations::Destinations(const char* device)
    : Destinations(std::string(device)) {}
DISTRIBUTE_INLINE Destinations::Destinations(const Tensor& value) : devices{value.device()} {}
DISTRIBUTE_INLINE Destinations::Destinations(const Variable& variable) {
  for (const std::string& device : variable.impl().devices())
    devices.push_back(strategy_internal::parse_device_name(device).device);
}
DISTRIBUTE_INLINE Destinations::Destinations(const PerReplica<Tensor>& value) {
  if (value.size() == 0) throw InvalidArgumentError("destinations can not be empty");
  for (const Tensor& one : value.values()) devices.push_back(one.device());
}

}  // namespace distribute
