#pragma once
/// Convolutions, transposed convolutions and pooling over windows.

#include <distribute/base/config.hpp>
#include <distribute/device/dtype.hpp>
#include <distribute/tensor/tensor.hpp>

#include <array>
#include <cstdint>

namespace distribute {

/// How the border of an image is padded.
/// Source  tf.nn padding strings "VALID", "SAME", and explicit paddings
enum class Padding : uint8_t { Valid, Same, Explicit };

/// Output size and padding of a window along one axis.
struct WindowAxis {
  int64_t out = 0, pad_before = 0, pad_after = 0;
};

/// Computes output size and padding for a window of `kernel` elements `dilation` apart. SAME puts
/// the odd element of padding after the data. `before` and `after` are used for explicit padding
/// only.
/// Throws  InvalidArgumentError when the window does not fit; `op` names the caller.
WindowAxis window_axis(const char* op, int64_t in, int64_t kernel, int64_t stride, int64_t dilation,
                       Padding padding, int64_t before, int64_t after);

}  // namespace distribute

namespace distribute::nn {

struct Conv2DOptions {  // options of conv2d()
  std::array<int64_t, 2> strides{1, 1};
  Padding padding = Padding::Valid;
  std::array<int64_t, 4> explicit_paddings{};  // top, bottom, left, right
  std::array<int64_t, 2> dilations{1, 1};
  int64_t groups = 1;
};

/// Computes epilogue(convolution + bias); `bias` [out_channels] may be empty.
/// Shapes  x [batch, height, width, in_channels],
///         filters [kernel_height, kernel_width, in_channels / groups, out_channels]
///         -> [batch, out_height, out_width, out_channels].
/// x and the result may have 16 bits while filters and bias stay float32, as do their gradients:
/// kernels round filters to x's type and sum in float32. 16-bit filters are cast to float32 first.
/// Throws  InvalidArgumentError with both shapes when they do not fit.
/// Source  tf.nn.conv2d (cross-correlation)
Tensor conv2d(const Tensor& x, const Tensor& filters, const Conv2DOptions& options = {},
              const Tensor& bias = {}, Epilogue epilogue = Epilogue::None);

/// Convolves each input channel with its own filters.
/// Shapes  filters [kernel_height, kernel_width, in_channels, multiplier]
///         -> [batch, out_height, out_width, in_channels * multiplier]. `options.groups` is unused.
/// Source  tf.nn.depthwise_conv2d
Tensor depthwise_conv2d(const Tensor& x, const Tensor& filters, const Conv2DOptions& options = {},
                        const Tensor& bias = {}, Epilogue epilogue = Epilogue::None);

/// Gives the gradient of conv2d with respect to an input of `input_shape`.
/// Source  tf.nn.conv2d_transpose
Tensor conv2d_backprop_input(const Shape& input_shape, const Tensor& filters, const Tensor& dy,
                             const Conv2DOptions& options = {});

/// Gradients of conv2d with respect to filters and bias.
struct FilterGradients {
  Tensor filters, bias;
};
FilterGradients conv2d_backprop_filter(const Tensor& x, const Shape& filter_shape, const Tensor& dy,
                                       const Conv2DOptions& options = {});

/// Gives the gradient of conv2d with these options with respect to its input, where x is the
/// gradient of its result, plus `bias` [out], which may be empty.
/// Shapes  x [batch, height, width, in], filters [kernel_height, kernel_width, out, in]
///         -> [batch, out_height, out_width, out], where an axis of n steps gives n stride with
///         Padding::Same, and n stride + max(kernel - stride, 0) with Padding::Valid.
/// Throws  InvalidArgumentError when they do not fit; UnimplementedError for Padding::Explicit and
///         groups.
/// Source  tf.nn.conv2d_transpose; sizes as tf.keras.layers.Conv2DTranspose
Tensor conv2d_transpose(const Tensor& x, const Tensor& filters, const Conv2DOptions& options = {},
                        const Tensor& bias = {});

struct PoolOptions {  // options of pooling operations
  std::array<int64_t, 2> ksize{2, 2};
  std::array<int64_t, 2> strides{};  // zero: the same as ksize
  Padding padding = Padding::Valid;
  std::array<int64_t, 4> explicit_paddings{};  // top, bottom, left, right
};

/// Gives the largest element of each window; padding is never the largest. Among equal elements the
/// first in row-major order gets the gradient. Keeps the layout of x. Takes floating dtypes; those
/// other than float32 and bfloat16 are converted.
/// Shapes  x [batch, height, width, channels] -> [batch, out_height, out_width, channels].
/// Source  tf.nn.max_pool2d
Tensor max_pool2d(const Tensor& x, const PoolOptions& options = {});

/// Gives the mean of each window over the elements inside the image. Shapes  as for max_pool2d().
/// Source  tf.nn.avg_pool2d
Tensor avg_pool2d(const Tensor& x, const PoolOptions& options = {});

}  // namespace distribute::nn
