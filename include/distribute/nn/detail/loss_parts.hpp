#pragma once
/// Helpers of losses: they make shapes of targets and predictions fit, and limit probabilities so
/// that they have a logarithm.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::nn::nn_internal {

inline constexpr float kEpsilon = 1e-7f;  // keras.backend.epsilon()

/// Limits probabilities to [1e-7, 1 - 1e-7].
Tensor inside_unit(const Tensor& probability);

/// Moves `axis` behind the others, which keep their order.
/// Throws  InvalidArgumentError for an axis that x does not have.
Tensor axis_last(const Tensor& x, int axis);

/// Converts 16-bit and integer predictions to float32; others stay as they are.
Tensor at_least_float32(const Tensor& y_pred);

struct TargetsAndPredictions {
  Tensor y_true, y_pred;
};

/// Casts the targets to the dtype of the predictions and makes their ranks equal. If one of both
/// has one more axis, of size 1 at the end, the other gets it if it is a vector; else the axis is
/// removed.
/// Shapes  [batch] beside [batch, 1] -> both [batch, 1]; [batch, d] beside [batch, d, 1] -> both
///          [batch, d].
/// Throws  InvalidArgumentError if neither shape broadcasts to the other.
TargetsAndPredictions same_rank(const char* function, const Tensor& y_true, const Tensor& y_pred);

/// Does the same for losses, which compute integers in float32.
TargetsAndPredictions loss_inputs(const char* loss, const Tensor& y_true, const Tensor& y_pred);
/// Does so for crossentropies, whose targets have the shape of the predictions.
/// Throws  InvalidArgumentError where they have another one.
TargetsAndPredictions crossentropy_inputs(const char* loss, const Tensor& y_true,
                                          const Tensor& y_pred);

}  // namespace distribute::nn::nn_internal
