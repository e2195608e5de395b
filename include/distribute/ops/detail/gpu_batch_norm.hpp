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
/// The shape for cuDNN of the normalization of x, without a residual.
CudnnNormShape cudnn_norm_shape(const Tensor& x, Epilogue epilogue);
/// Says once why cuDNN does not normalize.
void tell_slow_batch_norm(const UnimplementedError& error);

/// fused_batch_norm of a training step, recorded; x is on a GPU, scale and offset are float32 or
/// none. Nothing where cuDNN is missing or has no kernel for it: a residual without ReLU, an empty
/// batch, a number of channels that it does not take.
std::optional<nn::FusedBatchNorm> cudnn_normalize(const Tensor& x, const Tensor& scale,
                                                  const Tensor& offset,
                                                  const nn::FusedBatchNormOptions& options);

/// float32 [channels] each; y = x * factor + shift.
struct NormVectors {
  Tensor mean, variance, inverse_deviation, factor, shift;
};
/// `totals` as TensorHints::channel_sums, on a GPU as scale and offset, which are float32 or none.
NormVectors gpu_norm_vectors(const Tensor& totals, const Tensor& scale, const Tensor& offset,
                             double epsilon);

/// The variance of the channels whose 1 / sqrt(variance + epsilon) is given; float32 [channels].
Tensor gpu_norm_variance(const Tensor& inverse_deviation, double epsilon);

/// float32 [channels] each; dx = g * factor + x * slope + constant.
struct NormGradientVectors {
  Tensor dscale, doffset, slope, constant;
};
/// `own` and `all` are float32 [2 channels], the sums of g and of g * (x - mean) over the rows of
/// this replica and of all.
NormGradientVectors gpu_norm_gradient_vectors(const Tensor& totals, const NormVectors& vectors,
                                              const Tensor& own, const Tensor& all);

}  // namespace distribute::ops_internal
