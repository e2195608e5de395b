#pragma once
/// Batch normalization on GPUs as separate passes of cuDNN, used where the sums over channels come
/// from elsewhere: from the convolution before it, or from all replicas.

#include <distribute/base/config.hpp>
#include <distribute/device/detail/cuda_dnn_operations.hpp>
#include <distribute/device/detail/layout.hpp>

#include <cstdint>

namespace distribute {

/// Makes the sums over channels that all passes use: float32 [2 channels + 1] with the sums, the
/// sums of squares, and the number of summed rows. The sums begin as 0.
/// Throws  UnimplementedError for channels that are no multiple of 4: cuDNN writes vectors at
///         multiples of 16 bytes.
Array make_channel_sums(int64_t channels, int64_t rows, Device device);

/// Does what cudnn_conv2d() does without a bias, and fills `sums` with the sums of y.
Array cudnn_conv2d_with_sums(const Conv2DShape& shape, const Array& x, const Array& w, Array& sums);

/// Says which gradient follows cudnn_scale_channels(): the one of a normalization that sums by
/// itself (cudnn_batch_norm_backward), or the two passes below.
enum class CudnnNormWayBack { Whole, Passes };
/// Checks that cuDNN can compute both the result and the gradient.
/// Throws  UnimplementedError, with the engines' reasons, where one of the passes has no kernel.
void require_cudnn_norm_passes(const CudnnNormShape& shape, Device device, CudnnNormWayBack back);

Array cudnn_channel_sums(const CudnnNormShape& shape, const Array& x);
/// Computes y = relu(x * factor + shift + residual) and the mask; the caller sets mean and
/// deviation. factor and shift are float32 [channels].
CudnnNormForward cudnn_scale_channels(const CudnnNormShape& shape, const Array& x,
                                      const Array& factor, const Array& shift,
                                      const Array* residual);
/// Sums g and g * (x - mean) over each channel: float32 [2 channels]. g is dy where the mask let
/// the element through, else 0.
Array cudnn_channel_gradient_sums(const CudnnNormShape& shape, const Array& x, const Array& dy,
                                  const Array& mean, const Array& mask);
struct CudnnGradientLines {
  Array factor, slope, constant;  // float32 [channels]
};
/// Computes dx = g * factor + x * slope + constant, and g where there is a residual. The caller
/// computes the gradients of scale and bias.
CudnnNormBackward cudnn_channels_gradient(const CudnnNormShape& shape, const Array& x,
                                          const Array& dy, const CudnnGradientLines& lines,
                                          const Array& mask);

}  // namespace distribute
