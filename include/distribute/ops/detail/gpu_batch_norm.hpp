#pragma once
/// Batch normalization of a training step on a GPU by cuDNN.

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

/// Gives the elements as cuDNN reads them, at an address that it accepts.
Array cudnn_array(const Tensor& t);
/// Gives cuDNN's shape for the normalization of x, without a residual.
CudnnNormShape cudnn_norm_shape(const Tensor& x, Epilogue epilogue);
/// Logs once why cuDNN does not normalize.
void tell_slow_batch_norm(const UnimplementedError& error);

/// Does what fused_batch_norm() does in a training step. Tapes follow it. x is on a GPU, scale and
/// offset are float32 or empty. The result is empty if cuDNN is missing or has no kernel: for a
/// residual without ReLU, an empty batch, or a number of channels that it does not support.
std::optional<nn::FusedBatchNorm> cudnn_normalize(const Tensor& x, const Tensor& scale,
                                                  const Tensor& offset,
                                                  const nn::FusedBatchNormOptions& options);

/// Vectors, float32 [channels] each, for y = x * factor + shift.
struct NormVectors {
  Tensor mean, variance, inverse_deviation, factor, shift;
};
/// Computes them from `totals`, which TensorHints::channel_sums describes. `totals`, scale and
/// offset are on a GPU; scale and offset are float32 or empty.
NormVectors gpu_norm_vectors(const Tensor& totals, const Tensor& scale, const Tensor& offset,
                             double epsilon);

/// Gives the variance of channels from 1 / sqrt(variance + epsilon); float32 [channels].
Tensor gpu_norm_variance(const Tensor& inverse_deviation, double epsilon);

/// Vectors, float32 [channels] each, for dx = g * factor + x * slope + constant.
struct NormGradientVectors {
  Tensor dscale, doffset, slope, constant;
};
/// Computes them. `own` and `all` are float32 [2 channels], the sums of g and of g * (x - mean)
/// over the rows of this replica and of all replicas.
NormGradientVectors gpu_norm_gradient_vectors(const Tensor& totals, const NormVectors& vectors,
                                              const Tensor& own, const Tensor& all);

}  // namespace distribute::ops_internal
