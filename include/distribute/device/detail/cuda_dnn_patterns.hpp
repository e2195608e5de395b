#pragma once
/// The graphs this library asks cuDNN for: convolution, batch normalization and attention.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_dnn_attention.hpp>
#include <distribute/device/detail/cuda_dnn_graph.hpp>

#include <cstdint>

#include <cudnn_graph.h>

namespace distribute::cudnn_internal {

/// Each function names the tensors of its graph in the order of their numbers, from 1; images are
/// [n, h, w, c] in memory, filters [out, h, w, in].

/// x, w, y, then bias (of the images' dtype) when there is one.
CudnnGraph convolution_forward(const Conv2DShape& shape, bool with_bias, Epilogue epilogue);
/// x (written), w, y (its gradient).
CudnnGraph convolution_data(const Conv2DShape& shape);
/// x, w (written), y (its gradient).
CudnnGraph convolution_filter(const Conv2DShape& shape);
/// Batch normalization of [n, h, w, c], what may follow it fused: ReLU, after + residual.
struct NormShape {
  DType dtype = DType::Float32;
  int64_t batch = 0, channels = 0, height = 1, width = 1;
  bool relu = false, residual = false;  // a residual only together with ReLU
  // Of the way back, with ReLU: dy comes in two parts; dy behind the gate is written.
  bool summed = false, keeps_gated = true;
  bool operator==(const NormShape&) const = default;
};
/// x, y, scale, bias, epsilon (host scalar), mean, 1 / deviation; with ReLU then mask (a bit for
/// each element), zero (host scalar); then residual.
CudnnGraph batch_norm_forward(const NormShape& shape);
/// x, dy, dx, scale, mean, 1 / deviation, dscale, dbias; then the second part of dy, where it is
/// summed; with ReLU then mask, and dy behind it, where that is written: the residual's gradient.
CudnnGraph batch_norm_backward(const NormShape& shape);

/// The same in passes, between which sums go over replicas, or come from the convolution in front.
/// A residual may come without ReLU here.
/// x, sums, sums of squares, over each channel.
CudnnGraph channel_sums(const NormShape& shape);
/// y = relu(x * factor + shift + residual): x, y, factor, shift; with ReLU then mask and zero as
/// above; then residual.
CudnnGraph channels_scaled(const NormShape& shape);
/// g is dy behind the gate. x, dy, mean, sums of g, sums of g * (x - mean); with ReLU then mask.
CudnnGraph channel_gradient_sums(const NormShape& shape);
/// dx = g * factor + x * slope + constant: x, dy, dx, factor, slope, constant; with ReLU then mask,
/// and g, where that is written.
CudnnGraph channels_gradient(const NormShape& shape);

/// Convolution whose epilogue sums y and y * y over each channel, for the batch normalization that
/// follows: x, w, y, sum, sum of squares. Compiled when the plan is made, but
/// in float16.
CudnnGraph convolution_statistics(const Conv2DShape& shape);

/// q, k, v, out, log_sums, scale (host scalar); causal: minus infinity (host scalar).
CudnnGraph attention_forward(const CudnnAttentionShape& shape);
/// q, k, v, out, d_out, log_sums, scale, one (host scalars), dq, dk, dv, sums of out d_out (float32
/// [batch, heads, queries], written); causal: minus infinity. With `in_float32` dq is summed up in
/// a float32 tensor [batch, heads, queries, depth] that comes last, in an order that depends on
/// timing; else in a workspace of all scores.
CudnnGraph attention_backward(const CudnnAttentionShape& shape, bool in_float32);

}  // namespace distribute::cudnn_internal
