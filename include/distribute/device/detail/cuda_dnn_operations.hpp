#pragma once
/// Convolution and batch normalization of GPUs on cuDNN; builds without it have none.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/kernel_shapes.hpp>
#include <distribute/device/detail/layout.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace distribute {

/// Why there is no cuDNN: empty when it can be used.
std::string cudnn_problem();

/// All arrays on one GPU: images [n, h, w, c], filters [out_channels, h, w, in_channels / groups].
/// Work goes to the current stream. float32, bfloat16, float16; sums are float32.
/// Throws  UnavailableError without cuDNN; UnimplementedError, with each engine's reason, when it
///         has no kernel for the shape.
Array cudnn_conv2d(const Conv2DShape& shape, const Array& x, const Array& w, const Array* bias,
                   Epilogue epilogue);
Array cudnn_conv2d_backprop_input(const Conv2DShape& shape, const Array& dy, const Array& w);
Array cudnn_conv2d_backprop_filter(const Conv2DShape& shape, const Array& x, const Array& dy);

/// Batch normalization of a training step, + residual and ReLU fused.
struct CudnnNormShape {
  DType dtype = DType::Float32;
  int64_t batch = 0, channels = 0, height = 1, width = 1;
  bool relu = false, residual = false;  // a residual only together with ReLU
};
struct CudnnNormForward {
  Array y;
  Array mean, inverse_deviation;  // float32 [channels]
  Array mask;                     // with ReLU: a bit for each element that it let through
};
/// scale and bias float32 [channels]. Throws  UnimplementedError also where only the way back has
/// no kernel.
CudnnNormForward cudnn_batch_norm(const CudnnNormShape& shape, const Array& x, const Array& scale,
                                  const Array& bias, float epsilon, const Array* residual);
struct CudnnNormBackward {
  Array dx, dscale, dbias;
  Array gated_dy;  // the residual's gradient
};
/// Whether dy may come in two parts, which are added where they are read.
bool cudnn_batch_norm_adds(const CudnnNormShape& shape, Device device);
CudnnNormBackward cudnn_batch_norm_backward(const CudnnNormShape& shape, const Array& x,
                                            const Array& dy, const Array& scale,
                                            const CudnnNormForward& forward,
                                            const Array* more_dy = nullptr);

}  // namespace distribute
