#pragma once
#include <distribute/base/error.hpp>
#include <distribute/device/placement.hpp>

#include <algorithm>

namespace distribute::config::experimental {

DISTRIBUTE_INLINE bool get_memory_growth(const PhysicalDevice& device) {
  if (device.device_type != "GPU")
    throw InvalidArgumentError("Cannot set memory growth on non-GPU devices: " + device.name);
  const auto all = list_physical_devices("GPU");
  if (std::find(all.begin(), all.end(), device) == all.end())
    throw InvalidArgumentError(str_cat("Unrecognized device: '", device.name,
                                       "'; this machine has ", all.size(), " GPUs"));
  return true;
}

DISTRIBUTE_INLINE void set_memory_growth(const PhysicalDevice& device, bool enable) {
  get_memory_growth(device);
  if (!enable)
    throw UnimplementedError(str_cat(
        "set_memory_growth(", device.name,
        ", false): memory always grows as it is needed; LogicalDeviceConfiguration sets a limit"));
}

}  // namespace distribute::config::experimental
