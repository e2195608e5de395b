#pragma once
/// Applies sample weights and masks for losses and metrics.

#include <distribute/base/config.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>

namespace distribute::nn::nn_internal {

/// Casts weights to the dtype of `values` and gives them a shape that broadcasts against theirs:
/// one more axis of size 1 at the end is removed, missing axes are added there.
/// Shapes  weight: the first axes of values [batch, ...], each of the same size or 1; or a scalar.
/// Throws  InvalidArgumentError, which calls the weights `what`, for other shapes.
/// Source  keras.src.losses.loss.squeeze_or_expand_to_same_rank
Tensor fitted_weight(const Tensor& weight, const Tensor& values,
                     const char* what = "sample_weight");

/// Sets weights to 0 where the mask is false. Both may be empty; two scalars give a scalar.
/// Source  keras.src.losses.loss.apply_mask
Tensor masked_weight(const Tensor& weight, const Tensor& mask, const Tensor& values);

/// Returns the mask of the predictions, where the losses have none of their own; else what both let
/// count.
Tensor mask_of_losses(const Tensor& losses, const Tensor& y_pred);

/// Multiplies the values by their weights and reduces them, without dividing by a number of
/// replicas. Means divide by `count`, by default the number of values; with a mask, by `count`
/// times the share of steps that the mask counts. A single number stays as it is.
/// Source  keras.src.losses.loss.reduce_weighted_values
Tensor reduce_weighted_values(const Tensor& values, const Tensor& weight, const Tensor& mask,
                              Reduction reduction, std::optional<double> count = {});

}  // namespace distribute::nn::nn_internal
