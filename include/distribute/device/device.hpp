#pragma once
/// Where a tensor lives: the kind of device, its index in this process, its memory's use.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <string>

namespace distribute {

enum class DeviceType : unsigned char { Cpu, Gpu };  // the kinds of device

/// A device of this process. Several logical CPU devices share the host's memory.
struct Device {
  DeviceType type = DeviceType::Cpu;
  int index = 0;
  bool operator==(const Device&) const = default;
};

/// Whether it is a GPU; constant in programs without CUDA, which then compile none of the branches.
inline bool is_gpu([[maybe_unused]] Device device) {
#if DISTRIBUTE_HAS_CUDA
  return device.type == DeviceType::Gpu;
#else
  return false;
#endif
}

/// Memory statistics of a device, in bytes; the CPU's are this process's.
struct MemoryInfo {
  int64_t current = 0;  // in use by live buffers
  int64_t peak = 0;     // highest `current` so far
  int64_t cached = 0;   // free blocks kept for reuse
};

/// TensorFlow's short name, such as "/device:CPU:0".
std::string to_string(Device device);

}  // namespace distribute
