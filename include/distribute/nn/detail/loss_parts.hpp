#pragma once
/// What losses share: targets and predictions of fitting shapes, and probabilities that have a
/// logarithm.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::nn::nn_internal {

inline constexpr float kEpsilon = 1e-7f;  // keras.backend.epsilon()

/// Limits probabilities to [1e-7, 1 - 1e-7].
Tensor inside_unit(const Tensor& probability);

/// 16-bit predictions as float32, others as they are.
Tensor at_least_float32(const Tensor& y_pred);

struct TargetsAndPredictions {
  Tensor y_true, y_pred;
};

/// The targets take the dtype of the predictions. Where one of both has one more axis, of size 1
/// at the end, the other one gets it if it is a vector; else the axis is removed.
/// Shapes  [batch] beside [batch, 1] -> both [batch, 1]; [batch, d] beside [batch, d, 1] -> both
///         [batch, d].
/// Throws  InvalidArgumentError for shapes of which neither broadcasts into the other.
TargetsAndPredictions same_rank(const char* function, const Tensor& y_true, const Tensor& y_pred);

}  // namespace distribute::nn::nn_internal
