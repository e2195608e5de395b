#pragma once
/// The graphs that this library gives to cuDNN: convolution, batch normalization and attention.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_dnn_attention.hpp>
#include <distribute/device/detail/cuda_dnn_graph.hpp>

#include <cstdint>

#include <cudnn_graph.h>

namespace distribute::cudnn_internal {

/// Comments list the tensors of each graph in the order of their numbers, from 1; images are [n, h,
/// w, c] in memory, filters [out, h, w, in].

/// Tensors: x, w, y, then bias (of the images' dtype) when there is one.
CudnnGraph convolution_forward(const Conv2DShape& shape, bool with_bias, Epilogue epilogue);
/// Tensors: x (written), w, y (its gradient).
CudnnGraph convolution_data(const Conv2DShape& shape);
/// Tensors: x, w (written), y (its gradient).
CudnnGraph convolution_filter(const Conv2DShape& shape);
/// Batch normalization of [n, h, w, c], fused with a residual and ReLU if they follow it.
struct NormShape {
  DType dtype = DType::Float32;
  int64_t batch = 0, channels = 0, height = 1, width = 1;
  bool relu = false, residual = false;  // a residual only together with ReLU
  // With ReLU, for the gradient: whether dy comes in two parts, and whether dy behind the gate is
  // written.
  bool summed = false, keeps_gated = true;
  bool operator==(const NormShape&) const = default;
};
/// Tensors: x, y, scale, bias, epsilon (host scalar), mean, 1 / deviation; with ReLU then mask (one
/// bit for each element), zero (host scalar); then residual.
CudnnGraph batch_norm_forward(const NormShape& shape);
/// Tensors: x, dy, dx, scale, mean, 1 / deviation, dscale, dbias; then the second part of dy if
/// `summed`; with ReLU then mask, and dy behind the gate if it is written: the residual's gradient.
CudnnGraph batch_norm_backward(const NormShape& shape);

/// The following graphs compute the same in passes. Between them, sums go over replicas or come
/// from the convolution before. A residual may come without ReLU here. Tensors: x, sums, sums of
/// squares, over each channel.
CudnnGraph channel_sums(const NormShape& shape);
/// Computes y = relu(x * factor + shift + residual). Tensors: x, y, factor, shift; with ReLU then
/// mask and zero as above; then residual.
CudnnGraph channels_scaled(const NormShape& shape);
/// Sums g, which is dy behind the gate. Tensors: x, dy, mean, sums of g, sums of g * (x - mean);
/// with ReLU then mask.
CudnnGraph channel_gradient_sums(const NormShape& shape);
/// Computes dx = g * factor + x * slope + constant. Tensors: x, dy, dx, factor, slope, constant;
/// with ReLU then mask, and g if it is written.
CudnnGraph channels_gradient(const NormShape& shape);

/// A convolution whose epilogue sums y and y * y over each channel for the batch normalization that
/// follows. Tensors: x, w, y, sum, sum of squares. Except in float16, the kernel is compiled when
/// the plan is made.
CudnnGraph convolution_statistics(const Conv2DShape& shape);

/// Tensors: q, k, v, out, log_sums, scale (host scalar); causal: minus infinity (host scalar).
CudnnGraph attention_forward(const CudnnAttentionShape& shape);
/// Tensors: q, k, v, out, d_out, log_sums, scale, one (host scalars), dq, dk, dv, sums of out d_out
/// (float32 [batch, heads, queries], written); causal: minus infinity. With `in_float32` dq is
/// summed in a last float32 tensor [batch, heads, queries, depth], in an order that depends on
/// timing; otherwise in a workspace of all scores.
CudnnGraph attention_backward(const CudnnAttentionShape& shape, bool in_float32);

}  // namespace distribute::cudnn_internal
