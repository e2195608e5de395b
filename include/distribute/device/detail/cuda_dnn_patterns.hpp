#pragma once
/// The graphs this library asks cuDNN for: convolution, pooling and batch normalization.

#include <distribute/base/config.hpp>
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
  bool operator==(const NormShape&) const = default;
};
/// x, y, scale, bias, epsilon (host scalar), mean, 1 / deviation; with ReLU then mask (a bit for
/// each element), zero (host scalar); then residual.
CudnnGraph batch_norm_forward(const NormShape& shape);
/// x, dy, dx, scale, mean, 1 / deviation, dscale, dbias; with ReLU then mask, and dy behind it,
/// which is the gradient of the residual (written).
CudnnGraph batch_norm_backward(const NormShape& shape);

/// Convolution whose epilogue sums y and y * y over each channel, for the batch normalization that
/// follows: x, w, y, sum, sum of squares. Compiled when the plan is made, but
/// in float16.
CudnnGraph convolution_statistics(const Conv2DShape& shape);

}  // namespace distribute::cudnn_internal
