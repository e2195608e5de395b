#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/nn/confusion_metrics.hpp>
#include <distribute/nn/detail/loss_parts.hpp>
#include <distribute/nn/detail/metric_inputs.hpp>
#include <distribute/nn/detail/weighted_values.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <utility>

namespace distribute::nn::metrics {

namespace metrics_internal {

/// 1 above the threshold, or at the largest of each example if that is not 0.
DISTRIBUTE_INLINE Tensor chosen(const Tensor& p, const std::optional<double>& threshold) {
  if (threshold) return cast(greater(p, scalar_like(p, *threshold)), DType::Float32);
  const Tensor is_largest = greater_equal(p, reduce_max(p, {-1}, true));
  return cast(logical_and(is_largest, greater(abs(p), scalar_like(p, 1e-9))), DType::Float32);
}

}  // namespace metrics_internal

DISTRIBUTE_INLINE FBetaScore::FBetaScore(FBetaScoreOptions options)
    : Metric(options.name), options_(std::move(options)) {
  set_direction(Direction::Up);
  if (!(options_.beta > 0))
    throw InvalidArgumentError(str_cat("FBetaScore: beta must be positive, got ", options_.beta));
  const double threshold = options_.threshold.value_or(1);
  if (!(threshold > 0 && threshold <= 1))
    throw InvalidArgumentError(
        str_cat("FBetaScore: threshold must lie in (0, 1], got ", threshold));
}

DISTRIBUTE_INLINE void FBetaScore::update_state(const Tensor& y_true, const Tensor& y_pred,
                                                const Tensor& sample_weight) {
  if (y_true.shape().rank() != 2 || y_true.shape() != y_pred.shape())
    throw InvalidArgumentError(
        str_cat(name(), ": wanted targets and predictions [batch, classes], ", "got ",
                to_string(y_true.shape()), " and ", to_string(y_pred.shape())));
  const bool micro = options_.average == FScoreAverage::Micro;
  build_once([&] {
    const Shape shape = micro ? Shape{} : Shape{y_pred.shape()[1]};
    true_positives_ = add_variable("true_positives", shape);
    false_positives_ = add_variable("false_positives", shape);
    false_negatives_ = add_variable("false_negatives", shape);
    of_classes_ = add_variable("intermediate_weights", shape);
  });
  const Tensor y = cast(y_true, DType::Float32);
  const Tensor p =
      metrics_internal::chosen(cast(stop_gradient(y_pred), DType::Float32), options_.threshold);
  const auto add = [&](Variable& sum, Tensor values) {
    if (sample_weight) values = values * nn_internal::fitted_weight(sample_weight, values);
    sum.impl().accumulate(micro ? reduce_sum(values) : reduce_sum(values, {0}));
  };
  add(true_positives_, p * y);
  add(false_positives_, p * (1.0f - y));
  add(false_negatives_, (1.0f - p) * y);
  add(of_classes_, y);
}

DISTRIBUTE_INLINE Tensor FBetaScore::result() const {
  if (!true_positives_) return Tensor(0.0f);  // before the first values
  constexpr float kEpsilon = nn_internal::kEpsilon;
  const Tensor right = true_positives_.value();
  const Tensor precision = right / (right + false_positives_.value() + kEpsilon);
  const Tensor recall = right / (right + false_negatives_.value() + kEpsilon);
  const float square = float(options_.beta * options_.beta);
  const Tensor scores =
      precision * recall / (square * precision + recall + kEpsilon) * (1.0f + square);
  if (options_.average == FScoreAverage::None) return scores;
  if (options_.average != FScoreAverage::Weighted) return reduce_mean(scores);
  const Tensor of_classes = of_classes_.value();
  return reduce_sum(scores * (of_classes / (reduce_sum(of_classes) + kEpsilon)));
}

DISTRIBUTE_INLINE F1Score::F1Score(F1ScoreOptions options)
    : FBetaScore({.average = options.average,
                  .threshold = options.threshold,
                  .name = std::move(options.name)}) {}

}  // namespace distribute::nn::metrics
