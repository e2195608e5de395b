#pragma once
#include <distribute/nn/detail/loss_parts.hpp>
#include <distribute/nn/regression_losses.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

namespace distribute::nn {

namespace nn_internal {

/// Zeros and ones as -1 and 1, anything else as it is.
DISTRIBUTE_INLINE Tensor signs(const Tensor& y) {
  const Tensor is_bit = logical_or(equal(y, scalar_like(y, 0)), equal(y, scalar_like(y, 1)));
  return where(reduce_all(is_bit), 2.0f * y - 1.0f, y);
}

/// max(1 - y p, 0) of each element.
DISTRIBUTE_INLINE Tensor hinges(const char* function, const Tensor& y_true, const Tensor& y_pred) {
  const auto [y, p] = loss_inputs(function, y_true, y_pred);
  const Tensor margin = 1.0f - signs(y) * p;
  return maximum(margin, scalar_like(margin, 0));
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Tensor hinge(const Tensor& y_true, const Tensor& y_pred) {
  return reduce_mean(nn_internal::hinges("hinge", y_true, y_pred), {-1});
}
DISTRIBUTE_INLINE Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred) {
  return reduce_mean(square(nn_internal::hinges("squared_hinge", y_true, y_pred)), {-1});
}

DISTRIBUTE_INLINE Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred) {
  const auto [y, p] = nn_internal::loss_inputs("categorical_hinge", y_true, y_pred);
  const Tensor of_true = reduce_sum(y * p, {-1});
  const Tensor of_others = reduce_max((1.0f - y) * p, {-1});
  const Tensor loss = of_others - of_true + 1.0f;
  return maximum(loss, scalar_like(loss, 0));
}

}  // namespace distribute::nn
