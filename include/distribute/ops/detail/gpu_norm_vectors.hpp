#pragma once
/// The small vectors between the passes of a batch normalization on a GPU, one launch each way.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::ops_internal {

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
