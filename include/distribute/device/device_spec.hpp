#pragma once
/// Devices: what a tensor lies on, and the strings that name them.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <optional>
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

/// The parts of a device name that are given. A plain value.
/// Source  tf.DeviceSpec
struct DeviceSpec {
  std::optional<std::string> job = {};
  std::optional<int> replica = {};
  std::optional<int> task = {};
  std::optional<std::string> device_type = {};  // "CPU", "GPU", ...
  std::optional<int> device_index = {};         // unset: any, written "*"

  /// Throws  InvalidArgumentError for a part that is unknown or no number, or two device types.
  static DeviceSpec from_string(const std::string& name);
  /// The canonical name, such as "/job:worker/replica:0/task:2/device:CPU:0".
  std::string to_string() const;
  /// This one with every part that `inner` gives replaced.
  DeviceSpec make_merged_spec(const DeviceSpec& inner) const;
  bool operator==(const DeviceSpec&) const = default;
};

/// "/job:foo/cpu:0" -> "/job:foo/device:CPU:0".
std::string canonical_name(const std::string& name);

}  // namespace distribute
