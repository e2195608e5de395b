#pragma once
#include <distribute/nn/detail/loss_parts.hpp>
#include <distribute/nn/regression_losses.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <numbers>

namespace distribute::nn {

namespace nn_internal {

DISTRIBUTE_INLINE Tensor at_least(const Tensor& x, float low) {
  return maximum(x, scalar_like(x, low));
}

/// x / |x|, x / 1e-7 where it is shorter than that.
DISTRIBUTE_INLINE Tensor unit_length(const Tensor& x, int axis) {
  return l2_normalize(x, {axis}, kEpsilon * kEpsilon);
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Tensor mean_absolute_percentage_error(const Tensor& y_true,
                                                        const Tensor& y_pred) {
  const auto [y, p] = nn_internal::loss_inputs("mean_absolute_percentage_error", y_true, y_pred);
  const Tensor size = nn_internal::at_least(abs(y), nn_internal::kEpsilon);
  return 100.0f * reduce_mean(abs((y - p) / size), {-1});
}

DISTRIBUTE_INLINE Tensor mean_squared_logarithmic_error(const Tensor& y_true,
                                                        const Tensor& y_pred) {
  const auto [y, p] = nn_internal::loss_inputs("mean_squared_logarithmic_error", y_true, y_pred);
  const Tensor log_p = log(nn_internal::at_least(p, nn_internal::kEpsilon) + 1.0f);
  const Tensor log_y = log(nn_internal::at_least(y, nn_internal::kEpsilon) + 1.0f);
  return reduce_mean(squared_difference(log_p, log_y), {-1});
}

DISTRIBUTE_INLINE Tensor huber(const Tensor& y_true, const Tensor& y_pred, double delta) {
  const auto [y, p] = nn_internal::loss_inputs("huber", y_true, y_pred);
  const Tensor error = p - y, size = abs(error);
  const float d = float(delta);
  return reduce_mean(
      where(less_equal(size, scalar_like(size, d)), 0.5f * square(error), d * size - 0.5f * d * d),
      {-1});
}
DISTRIBUTE_INLINE Tensor huber(const Tensor& y_true, const Tensor& y_pred) {
  return huber(y_true, y_pred, 1.0);
}

DISTRIBUTE_INLINE Tensor log_cosh(const Tensor& y_true, const Tensor& y_pred) {
  const auto [y, p] = nn_internal::loss_inputs("log_cosh", y_true, y_pred);
  const Tensor error = p - y;
  return reduce_mean(error + softplus(error * -2.0f) - float(std::numbers::ln2), {-1});
}

DISTRIBUTE_INLINE Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred, int axis) {
  const auto [y, p] = nn_internal::loss_inputs("cosine_similarity", y_true, y_pred);
  return -reduce_sum(nn_internal::unit_length(y, axis) * nn_internal::unit_length(p, axis), {axis});
}
DISTRIBUTE_INLINE Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred) {
  return cosine_similarity(y_true, y_pred, -1);
}

DISTRIBUTE_INLINE Tensor Huber::call(const Tensor& y_true, const Tensor& y_pred) const {
  return huber(y_true, y_pred, delta_);
}
DISTRIBUTE_INLINE Tensor CosineSimilarity::call(const Tensor& y_true, const Tensor& y_pred) const {
  return cosine_similarity(y_true, y_pred, axis_);
}

}  // namespace distribute::nn
