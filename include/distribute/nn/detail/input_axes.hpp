#pragma once
/// Refuses inputs of layers that have too few axes.

#include <distribute/base/config.hpp>
#include <distribute/tensor/shape.hpp>

#include <string>

namespace distribute::nn::nn_internal {

/// Throws  InvalidArgumentError unless the input of this layer has `least` axes or more.
/// Source  the argument min_ndim of keras.layers.InputSpec
void check_least_axes(const std::string& layer, const Shape& input, int least);

}  // namespace distribute::nn::nn_internal
