#pragma once
/// Sample weights and masks as losses and metrics apply them.

#include <distribute/base/config.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>

namespace distribute::nn::nn_internal {

/// Weights in the dtype of `values`, under a shape that broadcasts against theirs: one more axis of
/// size 1 at the end is removed, missing axes are added there.
/// Shapes  the first axes of values [batch, ...], each of the same size or 1; or a scalar.
/// Throws  InvalidArgumentError, in which the weights are called `what`, for others.
/// Source  keras.src.losses.loss.squeeze_or_expand_to_same_rank
Tensor fitted_weight(const Tensor& weight, const Tensor& values,
                     const char* what = "sample_weight");

/// The weights, 0 where the mask is false. Both may be none; of two scalars a scalar.
/// Source  keras.src.losses.loss.apply_mask
Tensor masked_weight(const Tensor& weight, const Tensor& mask, const Tensor& values);

/// The values times their weights, reduced, not divided by a number of replicas. Means divide by
/// `count`, the number of values unless given; where there is a mask, by the part of `count` that
/// is the part of the steps that count. One number stays as it is.
/// Source  keras.src.losses.loss.reduce_weighted_values
Tensor reduce_weighted_values(const Tensor& values, const Tensor& weight, const Tensor& mask,
                              Reduction reduction, std::optional<double> count = {});

}  // namespace distribute::nn::nn_internal
