#pragma once
/// The transposed convolution of images.

#include <distribute/base/config.hpp>
#include <distribute/ops/conv2d.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::nn {

/// What conv2d with these options would have to be given for a result of x's size; `bias` [out] may
/// be none.
/// Shapes  x [batch, height, width, in], filters [kernel_height, kernel_width, out, in]
///         -> [batch, out_height, out_width, out], where an axis of n steps gives n stride with
///         Padding::Same, and n stride + max(kernel - stride, 0) with Padding::Valid.
/// Throws  InvalidArgumentError when they do not fit; UnimplementedError for Padding::Explicit and
///         groups.
/// Source  tf.nn.conv2d_transpose; sizes as tf.keras.layers.Conv2DTranspose
Tensor conv2d_transpose(const Tensor& x, const Tensor& filters, const Conv2DOptions& options = {},
                        const Tensor& bias = {});

}  // namespace distribute::nn
