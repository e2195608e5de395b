#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/detail/loss_parts.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

#include <vector>

namespace distribute::nn::nn_internal {

DISTRIBUTE_INLINE Tensor inside_unit(const Tensor& probability) {
  return clip_by_value(probability, kEpsilon, 1.0f - kEpsilon);
}

DISTRIBUTE_INLINE Tensor at_least_float32(const Tensor& y_pred) {
  const bool narrow = !is_floating(y_pred.dtype()) || size_of(y_pred.dtype()) < 4;
  return narrow ? cast(y_pred, DType::Float32) : y_pred;
}

DISTRIBUTE_INLINE Tensor axis_last(const Tensor& x, int axis) {
  if (axis == -1) return x;
  const int rank = x.shape().rank(), chosen = x.shape().normalize_axis(axis);
  if (chosen == rank - 1) return x;
  std::vector<int> order;
  for (int i = 0; i < rank; ++i)
    if (i != chosen) order.push_back(i);
  order.push_back(chosen);
  return transpose(x, order);
}

/// Removes the last axis of `longer`, or adds one to `shorter`.
DISTRIBUTE_INLINE void fit_last_axis(Tensor& longer, Tensor& shorter) {
  if (longer.shape().rank() != shorter.shape().rank() + 1 || longer.shape()[-1] != 1) return;
  if (shorter.shape().rank() == 1)
    shorter = expand_dims(shorter, -1);
  else
    longer = squeeze(longer, {-1});
}

DISTRIBUTE_INLINE bool broadcast_together(const Shape& a, const Shape& b) {
  if (a.rank() != b.rank()) return a.rank() == 0 || b.rank() == 0;
  for (int i = 0; i < a.rank(); ++i)
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1) return false;
  return true;
}

DISTRIBUTE_INLINE TargetsAndPredictions same_rank(const char* function, const Tensor& y_true,
                                                  const Tensor& y_pred) {
  TargetsAndPredictions both{cast(y_true, y_pred.dtype()), y_pred};
  fit_last_axis(both.y_true, both.y_pred);
  fit_last_axis(both.y_pred, both.y_true);
  if (!broadcast_together(both.y_true.shape(), both.y_pred.shape()))
    throw InvalidArgumentError(str_cat(function, ": targets of shape ", to_string(y_true.shape()),
                                       " do not fit predictions of shape ",
                                       to_string(y_pred.shape())));
  return both;
}

DISTRIBUTE_INLINE TargetsAndPredictions loss_inputs(const char* loss, const Tensor& y_true,
                                                    const Tensor& y_pred) {
  return same_rank(loss, y_true,
                   is_floating(y_pred.dtype()) ? y_pred : cast(y_pred, DType::Float32));
}

DISTRIBUTE_INLINE TargetsAndPredictions crossentropy_inputs(const char* loss, const Tensor& y_true,
                                                            const Tensor& y_pred) {
  const TargetsAndPredictions both = loss_inputs(loss, y_true, y_pred);
  if (both.y_true.shape() == both.y_pred.shape()) return both;
  throw InvalidArgumentError(str_cat(loss, ": targets of shape ", to_string(y_true.shape()),
                                     " and predictions of shape ", to_string(y_pred.shape()),
                                     "; both want one shape"));
}

}  // namespace distribute::nn::nn_internal
