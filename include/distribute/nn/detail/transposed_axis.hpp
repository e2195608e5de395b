#pragma once
/// Sizes of transposed convolutions, and tests of the options that convolutions share.

#include <distribute/nn/convolution.hpp>

#include <cstdint>
#include <optional>

namespace distribute::nn::nn_internal {

/// What a layer keeps, along one axis, of the result of a transposed convolution without padding.
struct TransposedAxis {
  int64_t begin = 0, size = 0;
};

/// How an axis of `steps` elements is enlarged.
struct TransposedWindow {
  int64_t steps, kernel, stride, dilation;
  std::optional<int64_t> output_padding;
};

/// Throws  InvalidArgumentError where no convolution of the result gives `steps` elements.
/// Source  keras.src.backend.common.backend_utils.compute_conv_transpose_output_shape
TransposedAxis transposed_axis(const TransposedWindow& window, Padding padding);

/// Returns the elements from `kept.begin`; zeros follow behind the end of x.
Tensor take_transposed(const Tensor& x, int axis, const TransposedAxis& kept);

/// Returns [batch, depth, height, width, channels] as [batch * depth, height, width, channels].
Tensor slices_of(const Tensor& x);

/// Throws InvalidArgumentError, with the layer's kind, for explicit padding.
void refuse_explicit(const char* layer, Padding padding);

/// Throws InvalidArgumentError unless 0 <= output_padding < stride.
void check_output_padding(const char* layer, std::optional<int64_t> output_padding, int64_t stride);

}  // namespace distribute::nn::nn_internal
