#pragma once
/// 2-D convolution of images, ordinary, grouped and depthwise.

#include <distribute/base/config.hpp>
#include <distribute/device/backend.hpp>
#include <distribute/ops/window.hpp>
#include <distribute/tensor/tensor.hpp>

#include <array>

namespace distribute::nn {

struct Conv2DOptions {  // of conv2d()
  std::array<int64_t, 2> strides{1, 1};
  Padding padding = Padding::Valid;
  std::array<int64_t, 4> explicit_paddings{};  // top, bottom, left, right
  std::array<int64_t, 2> dilations{1, 1};
  int64_t groups = 1;
};

/// epilogue(convolution + bias); `bias` [out_channels] may be none.
/// Shapes  x [batch, height, width, in_channels],
///         filters [kernel_height, kernel_width, in_channels / groups, out_channels]
///         -> [batch, out_height, out_width, out_channels].
/// x and the result may have 16 bits while filters and bias stay float32, as do their gradients:
/// kernels round filters to x's type and sum in float32. 16-bit filters are cast to float32 first.
/// Throws  InvalidArgumentError with both shapes when they do not fit.
/// Source  tf.nn.conv2d (cross-correlation)
Tensor conv2d(const Tensor& x, const Tensor& filters, const Conv2DOptions& options = {},
              const Tensor& bias = {}, Epilogue epilogue = Epilogue::None);

/// Each input channel with its own filters.
/// Shapes  filters [kernel_height, kernel_width, in_channels, multiplier]
///         -> [batch, out_height, out_width, in_channels * multiplier]. `options.groups` is unused.
/// Source  tf.nn.depthwise_conv2d
Tensor depthwise_conv2d(const Tensor& x, const Tensor& filters, const Conv2DOptions& options = {},
                        const Tensor& bias = {}, Epilogue epilogue = Epilogue::None);

/// Gradient of conv2d with respect to an input of `input_shape`.
/// Source  tf.nn.conv2d_transpose
Tensor conv2d_backprop_input(const Shape& input_shape, const Tensor& filters, const Tensor& dy,
                             const Conv2DOptions& options = {});

/// Gradients of conv2d with respect to filters and bias.
struct FilterGradients {
  Tensor filters, bias;
};
FilterGradients conv2d_backprop_filter(const Tensor& x, const Shape& filter_shape, const Tensor& dy,
                                       const Conv2DOptions& options = {});

}  // namespace distribute::nn
