#pragma once
#include <distribute/device/device_spec.hpp>

namespace distribute {

DISTRIBUTE_INLINE std::string to_string(Device device) {
  const char* kind = device.type == DeviceType::Cpu ? "CPU" : "GPU";
  return std::string("/device:") + kind + ":" + std::to_string(device.index);
}

}  // namespace distribute
