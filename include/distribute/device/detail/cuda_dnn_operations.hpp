#pragma once
/// Convolution and batch normalization on GPUs by cuDNN; builds without cuDNN lack both.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/kernel_shapes.hpp>
#include <distribute/device/detail/layout.hpp>

#include <cstdint>
#include <string>

namespace distribute {

/// Says why cuDNN cannot be used; empty when it can.
std::string cudnn_problem();

/// Computes a convolution on the current stream. All arrays are on one GPU: images [n, h, w, c],
/// filters [out_channels, h, w, in_channels / groups]. Types are float32, bfloat16 and float16;
/// sums are taken in float32.
/// Throws  UnavailableError without cuDNN; UnimplementedError, with each engine's reason, when it
///         has no kernel for the shape.
Array cudnn_conv2d(const Conv2DShape& shape, const Array& x, const Array& w, const Array* bias,
                   Epilogue epilogue);
Array cudnn_conv2d_backprop_input(const Conv2DShape& shape, const Array& dy, const Array& w);
Array cudnn_conv2d_backprop_filter(const Conv2DShape& shape, const Array& x, const Array& dy);

/// Shape of batch normalization in a training step, with residual and ReLU fused.
struct CudnnNormShape {
  DType dtype = DType::Float32;
  int64_t batch = 0, channels = 0, height = 1, width = 1;
  bool relu = false, residual = false;  // a residual only together with ReLU
};
struct CudnnNormForward {
  Array y;
  Array mean, inverse_deviation;  // float32 [channels]
  /// with ReLU: one bit for each element, set where it let the element through
  Array mask;
};
/// Shapes  scale and bias float32 [channels].
/// Throws  UnimplementedError also where only the gradient has no kernel.
CudnnNormForward cudnn_batch_norm(const CudnnNormShape& shape, const Array& x, const Array& scale,
                                  const Array& bias, float epsilon, const Array* residual);
struct CudnnNormBackward {
  Array dx, dscale, dbias;
  Array gated_dy;  // gradient of the residual
};
/// True when dy may come as two parts, which are added while they are read.
bool cudnn_batch_norm_adds(const CudnnNormShape& shape, Device device);
CudnnNormBackward cudnn_batch_norm_backward(const CudnnNormShape& shape, const Array& x,
                                            const Array& dy, const Array& scale,
                                            const CudnnNormForward& forward,
                                            const Array* more_dy = nullptr);

}  // namespace distribute
