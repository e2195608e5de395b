#pragma once
#include <distribute/nn/detail/crossentropy_scores.hpp>
#include <distribute/nn/detail/loss_parts.hpp>
#include <distribute/nn/regression_losses.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

namespace distribute::nn {

DISTRIBUTE_INLINE Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred) {
  const auto limited = [](const Tensor& x) {
    return clip_by_value(x, nn_internal::kEpsilon, 1.0f);
  };
  const auto both = nn_internal::loss_inputs("kl_divergence", y_true, y_pred);
  const Tensor y = limited(both.y_true);
  return reduce_sum(y * log(y / limited(both.y_pred)), {-1});
}

DISTRIBUTE_INLINE Tensor poisson(const Tensor& y_true, const Tensor& y_pred) {
  const auto [y, p] = nn_internal::loss_inputs("poisson", y_true, y_pred);
  return reduce_mean(p - y * log(p + nn_internal::kEpsilon), {-1});
}

DISTRIBUTE_INLINE Tensor binary_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                                   BinaryFocalOptions options) {
  const auto both = nn_internal::crossentropy_inputs("binary_focal_crossentropy", y_true, y_pred);
  const float s = float(options.label_smoothing), alpha = float(options.alpha);
  const Tensor y = s == 0.0f ? both.y_true : both.y_true * (1.0f - s) + 0.5f * s;
  const auto [scores, are_logits] =
      nn_internal::scores_of("binary_focal_crossentropy", both.y_pred, options.from_logits);
  const Tensor p = are_logits ? sigmoid(scores) : scores, inside = nn_internal::inside_unit(p);
  const Tensor entropy = are_logits ? sigmoid_cross_entropy_with_logits(y, scores)
                                    : -(y * log(inside) + (1.0f - y) * log(1.0f - inside));
  const Tensor wrong = 1.0f - (y * p + (1.0f - y) * (1.0f - p));
  Tensor focal = pow(wrong, scalar_like(wrong, options.gamma)) * entropy;
  if (options.apply_class_balancing) focal = (y * alpha + (1.0f - y) * (1.0f - alpha)) * focal;
  return reduce_mean(focal, {options.axis});
}

DISTRIBUTE_INLINE Tensor categorical_focal_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                                        CategoricalFocalOptions options) {
  const float s = float(options.label_smoothing);
  const auto both = nn_internal::loss_inputs("categorical_focal_crossentropy", y_true, y_pred);
  const Tensor target = nn_internal::axis_last(both.y_true, options.axis);
  const Tensor scores = nn_internal::axis_last(both.y_pred, options.axis);
  const Tensor y = s == 0.0f ? target : target * (1.0f - s) + s / float(scores.shape()[-1]);
  const Tensor p = options.from_logits ? softmax(scores) : scores;
  const Tensor inside = nn_internal::inside_unit(p / reduce_sum(p, {-1}, true));
  const Tensor factor =
      pow(1.0f - inside, scalar_like(inside, options.gamma)) * float(options.alpha);
  return -reduce_sum(factor * (y * log(inside)), {-1});
}

DISTRIBUTE_INLINE Tensor BinaryFocalCrossentropy::call(const Tensor& y_true,
                                                       const Tensor& y_pred) const {
  return binary_focal_crossentropy(y_true, y_pred, options_);
}
DISTRIBUTE_INLINE Tensor CategoricalFocalCrossentropy::call(const Tensor& y_true,
                                                            const Tensor& y_pred) const {
  return categorical_focal_crossentropy(y_true, y_pred, options_);
}

}  // namespace distribute::nn
