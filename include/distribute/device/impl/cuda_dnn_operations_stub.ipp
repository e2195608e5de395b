#pragma once
#if !DISTRIBUTE_HAS_CUDNN
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_dnn_attention.hpp>
#include <distribute/device/detail/cuda_dnn_norm_passes.hpp>
#include <distribute/device/detail/cuda_dnn_operations.hpp>
#include <distribute/device/detail/cuda_dnn_recurrent.hpp>

namespace distribute {

DISTRIBUTE_INLINE std::string cudnn_problem() {
  return "this build has no cuDNN: install its headers (nvidia-cudnn) and configure again";
}

DISTRIBUTE_INLINE Array cudnn_conv2d(const Conv2DShape&, const Array&, const Array&, const Array*,
                                     Epilogue) {
  throw UnavailableError(cudnn_problem());
}
DISTRIBUTE_INLINE Array cudnn_conv2d_backprop_input(const Conv2DShape&, const Array&,
                                                    const Array&) {
  throw UnavailableError(cudnn_problem());
}
DISTRIBUTE_INLINE Array cudnn_conv2d_backprop_filter(const Conv2DShape&, const Array&,
                                                     const Array&) {
  throw UnavailableError(cudnn_problem());
}
DISTRIBUTE_INLINE CudnnNormForward cudnn_batch_norm(const CudnnNormShape&, const Array&,
                                                    const Array&, const Array&, float,
                                                    const Array*) {
  throw UnavailableError(cudnn_problem());
}
DISTRIBUTE_INLINE bool cudnn_batch_norm_adds(const CudnnNormShape&, Device) { return false; }
DISTRIBUTE_INLINE CudnnNormBackward cudnn_batch_norm_backward(const CudnnNormShape&, const Array&,
                                                              const Array&, const Array&,
                                                              const CudnnNormForward&,
                                                              const Array*) {
  throw UnavailableError(cudnn_problem());
}
DISTRIBUTE_INLINE Array make_channel_sums(int64_t, int64_t, Device) {
  throw UnavailableError(cudnn_problem());
}
DISTRIBUTE_INLINE Array cudnn_conv2d_with_sums(const Conv2DShape&, const Array&, const Array&,
                                               Array&) {
  throw UnavailableError(cudnn_problem());
}
DISTRIBUTE_INLINE void require_cudnn_norm_passes(const CudnnNormShape&, Device, CudnnNormWayBack) {
  throw UnavailableError(cudnn_problem());
}
DISTRIBUTE_INLINE Array cudnn_channel_sums(const CudnnNormShape&, const Array&) {
  throw UnavailableError(cudnn_problem());
}
DISTRIBUTE_INLINE CudnnNormForward cudnn_scale_channels(const CudnnNormShape&, const Array&,
                                                        const Array&, const Array&, const Array*) {
  throw UnavailableError(cudnn_problem());
}
DISTRIBUTE_INLINE Array cudnn_channel_gradient_sums(const CudnnNormShape&, const Array&,
                                                    const Array&, const Array&, const Array&) {
  throw UnavailableError(cudnn_problem());
}
DISTRIBUTE_INLINE CudnnNormBackward cudnn_channels_gradient(const CudnnNormShape&, const Array&,
                                                            const Array&, const CudnnGradientLines&,
                                                            const Array&) {
  throw UnavailableError(cudnn_problem());
}
DISTRIBUTE_INLINE CudnnAttention cudnn_attention(const CudnnAttentionShape&,
                                                 const CudnnAttentionInputs&, bool) {
  throw UnavailableError(cudnn_problem());
}
DISTRIBUTE_INLINE CudnnAttentionGradients cudnn_attention_backward(const CudnnAttentionShape&,
                                                                   const CudnnAttentionInputs&,
                                                                   const CudnnAttention&,
                                                                   const Array&) {
  throw UnavailableError(cudnn_problem());
}
DISTRIBUTE_INLINE CudnnRecurrent cudnn_recurrent(const CudnnRecurrentShape&,
                                                 const CudnnRecurrentInputs&, bool) {
  throw UnavailableError(cudnn_problem());
}
DISTRIBUTE_INLINE CudnnRecurrentGradients cudnn_recurrent_backward(const CudnnRecurrentShape&,
                                                                   const CudnnRecurrentInputs&,
                                                                   const CudnnRecurrent&,
                                                                   const Array&, const Array&,
                                                                   const Array&, const Array*) {
  throw UnavailableError(cudnn_problem());
}

}  // namespace distribute
#endif
