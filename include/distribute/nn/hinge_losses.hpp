#pragma once
/// Hinge losses: of each example, and as objects.

#include <distribute/base/config.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute::nn {

/// mean(max(1 - y_true y_pred, 0)) over the last axis. Targets are -1 and 1; where all are 0 or 1,
/// 0 counts as -1.
/// Shapes  y_true and y_pred [batch..., d] -> [batch...].
/// Source  tf.keras.losses.hinge, squared_hinge
Tensor hinge(const Tensor& y_true, const Tensor& y_pred);
Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred);

/// max(neg - pos + 1, 0): pos = sum(y_true y_pred), neg = max((1 - y_true) y_pred).
/// Shapes  y_true, 0 or 1, and y_pred [batch..., classes] -> [batch...].
/// Source  tf.keras.losses.categorical_hinge
Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred);

/// These functions as objects. Source  tf.keras.losses.Hinge, SquaredHinge, CategoricalHinge
using Hinge = FunctionLoss<hinge>;
using SquaredHinge = FunctionLoss<squared_hinge>;
using CategoricalHinge = FunctionLoss<categorical_hinge>;

}  // namespace distribute::nn
