#pragma once
/// The graphs this library asks cuDNN for: convolution, pooling and batch normalization.

#include <distribute/base/config.hpp>
#include <distribute/device/cuda_dnn_graph.hpp>

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
/// y, sums [c] in float32: over all but channels.
CudnnGraph channel_sums(DType dtype, int64_t n, int64_t c, int64_t h, int64_t w);

/// A pooling of images.
struct PoolShape {
  DType dtype = DType::Float32;
  int64_t batch = 0, channels = 0;
  std::array<int64_t, 2> in{}, out{};
  PoolWindow window;
  bool operator==(const PoolShape&) const = default;
};
/// x, y, and for training the winner's place in its window, int8 [batch, out, out, channels].
CudnnGraph max_pool_forward(const PoolShape& shape, bool training);
/// dy, dx, winners.
CudnnGraph max_pool_backward(const PoolShape& shape);
/// x, y. The mean is over the elements inside the image.
CudnnGraph average_pool_forward(const PoolShape& shape);
/// dy, dx.
CudnnGraph average_pool_backward(const PoolShape& shape);

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
/// follows: x, w, y, sum, sum of squares. float16 alone.
CudnnGraph convolution_statistics(const Conv2DShape& shape);

}  // namespace distribute::cudnn_internal

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/device/impl/cuda_dnn_patterns.ipp>
#endif
