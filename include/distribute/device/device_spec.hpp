#pragma once
/// Devices that tensors can be on, and the strings that name them.

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

/// Returns whether the device is a GPU. In programs without CUDA it is a constant, so that branches
/// for GPUs are not compiled.
inline bool is_gpu([[maybe_unused]] Device device) {
#if DISTRIBUTE_HAS_CUDA
  return device.type == DeviceType::Gpu;
#else
  return false;
#endif
}

/// Holds the memory statistics of a device in bytes; for the CPU they cover this process.
struct MemoryInfo {
  int64_t current = 0;  // in use by live buffers
  int64_t peak = 0;     // highest `current` so far
  int64_t cached = 0;   // free blocks kept for reuse
};

/// TensorFlow's short name, such as "/device:CPU:0".
std::string to_string(Device device);

/// The parts that a device name gives. It can be copied.
/// Source  tf.DeviceSpec
struct DeviceSpec {
  std::optional<std::string> job = {};
  std::optional<int> replica = {};
  std::optional<int> task = {};
  std::optional<std::string> device_type = {};  // "CPU", "GPU", ...
  std::optional<int> device_index = {};         // unset: any, written "*"

  /// Throws  InvalidArgumentError for a part that is unknown or no number, or two device types.
  static DeviceSpec from_string(const std::string& name);
  /// Returns the canonical name, such as "/job:worker/replica:0/task:2/device:CPU:0".
  std::string to_string() const;
  /// Gives a copy in which every part that `inner` has is replaced.
  DeviceSpec make_merged_spec(const DeviceSpec& inner) const;
  bool operator==(const DeviceSpec&) const = default;
};

/// Completes a name: "/job:foo/cpu:0" -> "/job:foo/device:CPU:0".
std::string canonical_name(const std::string& name);

}  // namespace distribute
