#pragma once
/// Batch normalization of a training step on a GPU's cuDNN.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/device/detail/cuda_dnn_operations.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>

namespace distribute::nn {
struct FusedBatchNorm;  // batch_norm.hpp, whose bodies need this header
struct FusedBatchNormOptions;
}  // namespace distribute::nn

namespace distribute::ops_internal {

/// The elements as cuDNN reads them, at an address that it takes.
Array cudnn_array(const Tensor& t);
/// Of the normalization of x, without a residual.
CudnnNormShape cudnn_norm_shape(const Tensor& x, Epilogue epilogue);
/// Says once why cuDNN does not normalize.
void tell_slow_batch_norm(const UnimplementedError& error);

/// fused_batch_norm of a training step, recorded; x is on a GPU, scale and offset are float32 or
/// none. Nothing where cuDNN is missing or has no kernel for it: a residual without ReLU, an empty
/// batch, a number of channels that it does not take.
std::optional<nn::FusedBatchNorm> cudnn_normalize(const Tensor& x, const Tensor& scale,
                                                  const Tensor& offset,
                                                  const nn::FusedBatchNormOptions& options);

}  // namespace distribute::ops_internal
