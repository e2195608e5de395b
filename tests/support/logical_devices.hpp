#pragma once
#include <distribute/device/placement.hpp>

/// That many logical CPU devices until the end of the block, then one again.
class LogicalDevices {
 public:
  explicit LogicalDevices(int count) {
    distribute::config::set_logical_device_configuration(count);
  }
  LogicalDevices(const LogicalDevices&) = delete;
  ~LogicalDevices() { distribute::config::set_logical_device_configuration(1); }
};
