#pragma once
/// A convolution in front of a normalization, which takes sums over channels from it.

#include <distribute/base/config.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::ops_internal {

/// nn::conv2d() without bias and epilogue; where the backend sums while it computes, the result has
/// TensorHints::channel_sums.
Tensor conv2d_with_sums(const Tensor& x, const Tensor& filters,
                        const nn::Conv2DOptions& options = {});

}  // namespace distribute::ops_internal
