#pragma once
/// Batch normalization of GPUs on cuDNN pass by pass, where the sums over channels come from
/// elsewhere: from the convolution in front, or from all replicas.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_dnn_operations.hpp>
#include <distribute/device/detail/layout.hpp>

#include <cstdint>

namespace distribute {

/// Sums over channels as all passes have them: float32 [2 channels + 1], the sums, the sums of
/// squares, and how many rows were summed. Made with sums of 0.
/// Throws  UnimplementedError for channels that are no multiple of 4: cuDNN writes vectors at
///         multiples of 16 bytes.
Array make_channel_sums(int64_t channels, int64_t rows, Device device);

/// cudnn_conv2d without a bias; fills `sums` with those of y.
Array cudnn_conv2d_with_sums(const Conv2DShape& shape, const Array& x, const Array& w, Array& sums);

/// Which gradient follows cudnn_scale_channels(): that of a normalization which summed itself
/// (cudnn_batch_norm_backward), or the two passes below.
enum class CudnnNormWayBack { Whole, Passes };
/// Throws  UnimplementedError, with the engines' reasons, where there or back a pass has no kernel.
void require_cudnn_norm_passes(const CudnnNormShape& shape, Device device, CudnnNormWayBack back);

Array cudnn_channel_sums(const CudnnNormShape& shape, const Array& x);
/// y = relu(x * factor + shift + residual) and the mask; mean and deviation are the caller's.
/// factor and shift float32 [channels].
CudnnNormForward cudnn_scale_channels(const CudnnNormShape& shape, const Array& x,
                                      const Array& factor, const Array& shift,
                                      const Array* residual);
/// The sums of g, which is dy behind the mask, and of g * (x - mean): float32 [2 channels].
Array cudnn_channel_gradient_sums(const CudnnNormShape& shape, const Array& x, const Array& dy,
                                  const Array& mean, const Array& mask);
struct CudnnGradientLines {
  Array factor, slope, constant;  // float32 [channels]
};
/// dx = g * factor + x * slope + constant, and g where there is a residual. scale's and bias's
/// gradients are the caller's.
CudnnNormBackward cudnn_channels_gradient(const CudnnNormShape& shape, const Array& x,
                                          const Array& dy, const CudnnGradientLines& lines,
                                          const Array& mask);

}  // namespace distribute
