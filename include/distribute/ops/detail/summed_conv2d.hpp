#pragma once
/// A convolution before a normalization, which uses the convolution's sums over channels.

#include <distribute/base/config.hpp>
#include <distribute/ops/convolution.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::ops_internal {

/// Does what nn::conv2d() does without bias and epilogue. If the backend can sum during the
/// convolution, the result has TensorHints::channel_sums.
Tensor conv2d_with_sums(const Tensor& x, const Tensor& filters,
                        const nn::Conv2DOptions& options = {});

}  // namespace distribute::ops_internal
