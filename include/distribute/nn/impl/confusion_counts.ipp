#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/nn/detail/confusion_counts.hpp>
#include <distribute/nn/detail/loss_parts.hpp>
#include <distribute/nn/detail/metric_inputs.hpp>
#include <distribute/nn/detail/weighted_values.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>

namespace distribute::nn::metrics::metrics_internal {

/// Replaces every prediction except the k largest of the last axis by -1e10.
DISTRIBUTE_INLINE Tensor largest_alone(const Tensor& predictions, int k) {
  const int64_t classes = predictions.shape()[-1];
  const Tensor chosen = reduce_sum(one_hot(top_k(predictions, k).indices, classes), {-2});
  return predictions * chosen - 1e10f * (1.0f - chosen);
}

DISTRIBUTE_INLINE Tensor one_class(const char* what, const Tensor& x, int id) {
  if (x.shape().rank() < 2 || id < 0 || id >= x.shape()[-1])
    throw InvalidArgumentError(
        str_cat("class_id ", id, " names no class of ", what, " of shape ", to_string(x.shape())));
  return gather(x, Tensor{int64_t(id)}, -1);
}

/// Weights of the true and of the false targets.
struct WeightedTargets {
  Tensor of_true, of_false;
};
DISTRIBUTE_INLINE WeightedTargets weighted_targets(const Tensor& y, const Tensor& weight) {
  const Tensor truth = cast(not_equal(y, scalar_like(y, 0)), DType::Float32);
  const Tensor falsehood = 1.0f - truth;
  if (!weight) return {truth, falsehood};
  return {truth * weight, falsehood * weight};
}

DISTRIBUTE_INLINE ConfusionCounts with_negatives(const Tensor& true_positives,
                                                 const Tensor& false_positives,
                                                 const Tensor& all_true, const Tensor& all_false) {
  return {true_positives, false_positives, all_false - false_positives, all_true - true_positives};
}

DISTRIBUTE_INLINE ConfusionCounts confusion_counts(const Tensor& y_true, const Tensor& y_pred,
                                                   const Tensor& weight,
                                                   const std::vector<double>& thresholds,
                                                   const ConfusionChoice& choice) {
  auto [y, p] =
      nn_internal::same_rank("update_state", y_true, cast(stop_gradient(y_pred), DType::Float32));
  if (choice.top_k) p = largest_alone(p, *choice.top_k);
  if (choice.class_id) {
    y = one_class("targets", y, *choice.class_id);
    p = one_class("predictions", p, *choice.class_id);
  }
  const WeightedTargets targets =
      weighted_targets(y, weight ? nn_internal::fitted_weight(weight, p) : Tensor());
  std::vector<Tensor> true_positives, false_positives;
  for (double threshold : thresholds) {
    const Tensor positive = cast(greater(p, scalar_like(p, threshold)), DType::Float32);
    true_positives.push_back(reduce_sum(targets.of_true * positive));
    false_positives.push_back(reduce_sum(targets.of_false * positive));
  }
  return with_negatives(stack(true_positives), stack(false_positives), reduce_sum(targets.of_true),
                        reduce_sum(targets.of_false));
}

/// Row i of the result is the sum of the rows from i on.
/// Shapes  x [rows, labels] -> the same.
DISTRIBUTE_INLINE Tensor sum_from_here(Tensor x) {
  const int64_t rows = x.shape()[0], labels = x.shape()[1];
  for (int64_t reach = 1; reach < rows; reach *= 2)
    x = x + concat({slice(x, {reach, 0}, {-1, -1}), zeros({reach, labels})}, 0);
  return x;
}

DISTRIBUTE_INLINE ConfusionCounts even_confusion_counts(const Tensor& y_true, const Tensor& y_pred,
                                                        const Tensor& weight, int64_t count) {
  const int64_t labels = y_pred.shape()[1];
  const Tensor p = clip_by_value(y_pred, 0, 1);
  const Tensor place = ceil(p * float(count - 1)) - 1.0f;
  const Tensor bin = cast(maximum(place, scalar_like(place, 0)), DType::Int64);
  const Tensor label({1, labels}, numbers_up_to(labels));
  const WeightedTargets targets = weighted_targets(y_true, weight);
  const auto above = [&](const Tensor& weights) {
    const Tensor of_bins = weighted_histogram(reshape(bin * labels + label, {-1}),
                                              reshape(weights, {-1}), count * labels);
    return sum_from_here(reshape(of_bins, {count, labels}));
  };
  return with_negatives(above(targets.of_true), above(targets.of_false),
                        reduce_sum(targets.of_true, {0}), reduce_sum(targets.of_false, {0}));
}

DISTRIBUTE_INLINE std::vector<double> checked_thresholds(const char* metric,
                                                         std::vector<double> thresholds,
                                                         double otherwise) {
  for (double threshold : thresholds)
    if (!(threshold >= 0 && threshold <= 1))
      throw InvalidArgumentError(
          str_cat(metric, ": a threshold must lie in [0, 1], got ", threshold));
  if (thresholds.empty()) thresholds = {otherwise};
  return thresholds;
}

}  // namespace distribute::nn::metrics::metrics_internal
