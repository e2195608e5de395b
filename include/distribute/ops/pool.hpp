#pragma once
/// Max and average pooling of images.

#include <distribute/base/config.hpp>
#include <distribute/ops/window.hpp>
#include <distribute/tensor/tensor.hpp>

#include <array>

namespace distribute::nn {

struct PoolOptions {  // of pooling operations
  std::array<int64_t, 2> ksize{2, 2};
  std::array<int64_t, 2> strides{};  // zero: as ksize
  Padding padding = Padding::Valid;
  std::array<int64_t, 4> explicit_paddings{};  // top, bottom, left, right
};

/// Largest element of each window; padding never wins. Among equals the first in row-major order
/// gets the gradient. Keeps the layout of x. Floating; what is not float32 or bfloat16 is
/// converted.
/// Shapes  x [batch, height, width, channels] -> [batch, out_height, out_width, channels].
/// Source  tf.nn.max_pool2d
Tensor max_pool2d(const Tensor& x, const PoolOptions& options = {});

/// Mean of each window over the elements inside the image. Shapes as max_pool2d.
/// Source  tf.nn.avg_pool2d
Tensor avg_pool2d(const Tensor& x, const PoolOptions& options = {});

}  // namespace distribute::nn
