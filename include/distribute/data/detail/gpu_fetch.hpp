#pragma once
/// Copies elements to GPUs before they are needed.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>
#include <distribute/device/device_spec.hpp>

#include <vector>

namespace distribute::data {

/// Copies element i to devices[i % n]. With `ahead` a thread of its own copies while the GPUs
/// compute, and keeps n elements ready. Saved positions are those of the input.
/// Source  tf.data.experimental.prefetch_to_device
NodePtr fetch_to_gpus_node(NodePtr input, std::vector<Device> devices, bool ahead = true);

}  // namespace distribute::data
