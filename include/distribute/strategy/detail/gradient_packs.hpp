#pragma once
/// Reduces many dense values as a few long ones, so that devices exchange few large messages.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <functional>
#include <vector>

namespace distribute::strategy_internal {

/// Reduces values[i] of all replicas, i = 0, 1, ...: the values of one dtype are concatenated and
/// cut into `packs` pieces of equal size, of which the last takes the rest; `reduce` gets each
/// piece of all replicas. Returns the results in the values' order, on the device of the reduced
/// pieces. Values must be dense, on one device per replica, with equal shapes and dtypes; packs >
/// 0.
/// Source  tf.distribute num_packs (cross_device_utils, aggregation with packing)
std::vector<Tensor> reduce_in_packs(
    const std::vector<std::vector<Tensor>>& values, int packs,
    const std::function<Tensor(const std::vector<Tensor>&)>& reduce);

/// Whether reduce_in_packs can take the values: more than one, dense, equal in shape and dtype, and
/// every replica's on one GPU.
bool suits_packs(const std::vector<std::vector<Tensor>>& values);

}  // namespace distribute::strategy_internal
