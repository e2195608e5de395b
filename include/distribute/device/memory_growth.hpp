#pragma once
/// TensorFlow's setting of how a GPU's memory is taken.

#include <distribute/base/config.hpp>
#include <distribute/device/placement.hpp>

namespace distribute::config::experimental {

/// Memory of GPUs always grows as it is needed, so that `true` changes nothing. A limit is set by
/// LogicalDeviceConfiguration::memory_limit_mb.
/// Throws  InvalidArgumentError for a device that is no GPU of this machine; UnimplementedError for
///         `false`, TensorFlow's default: nearly all memory at once.
/// Source  tf.config.experimental.set_memory_growth
void set_memory_growth(const PhysicalDevice& device, bool enable);

/// Throws  InvalidArgumentError as set_memory_growth().
/// Source  tf.config.experimental.get_memory_growth
bool get_memory_growth(const PhysicalDevice& device);

}  // namespace distribute::config::experimental
