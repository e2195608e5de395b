#pragma once
/// Names of devices, whole or in part: "/job:worker/task:2/device:CPU:0", "/gpu:0".

#include <distribute/base/config.hpp>

#include <optional>
#include <string>

namespace distribute {

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
