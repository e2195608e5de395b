#pragma once
#include <distribute/strategy/devices.hpp>
#include <distribute/strategy/reduce_arguments.hpp>

namespace distribute {

DISTRIBUTE_INLINE Destinations::Destinations(const std::string& device)
    : devices{strategy_internal::parse_device_name(device).device} {}
DISTRIBUTE_INLINE Destinations::Destinations(const char* device)
    : Destinations(std::string(device)) {}
DISTRIBUTE_INLINE Destinations::Destinations(const Tensor& value) : devices{value.device()} {}
DISTRIBUTE_INLINE Destinations::Destinations(const Variable& variable)
    : Destinations(variable.impl().component(0)) {}
DISTRIBUTE_INLINE Destinations::Destinations(const PerReplica<Tensor>& value) {
  if (value.size() == 0) throw InvalidArgumentError("destinations can not be empty");
  for (const Tensor& one : value.values()) devices.push_back(one.device());
}

}  // namespace distribute
