#pragma once
/// Weights with which pixels of an image give those of a resized one.

#include <distribute/base/config.hpp>
#include <distribute/nn/reshaping.hpp>

#include <cstdint>

namespace distribute::nn::nn_internal {

/// Returns float32 [wanted, had]: the weight of each row of the image in every row of the resized
/// one. The middle of a pixel keeps its position. With `antialias` the filter is as much wider as
/// the image becomes smaller, except for Nearest.
/// Source  tf.image.resize
Tensor resizing_matrix(int64_t wanted, int64_t had, Interpolation method, bool antialias = false);

}  // namespace distribute::nn::nn_internal
