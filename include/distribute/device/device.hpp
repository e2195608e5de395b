#pragma once
/// Where a tensor lives: the kind of device and its index in this process.

#include <distribute/base/config.hpp>

#include <string>

namespace distribute {

enum class DeviceType : unsigned char { Cpu, Gpu };

/// A device of this process. Several logical CPU devices share the host's memory.
struct Device {
  DeviceType type = DeviceType::Cpu;
  int index = 0;
  bool operator==(const Device&) const = default;
};

/// TensorFlow's short name, such as "/device:CPU:0".
std::string to_string(Device device);

}  // namespace distribute

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/device/impl/device.ipp>
#endif
