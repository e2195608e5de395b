#pragma once
#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/error.hpp>
#include <distribute/nn/confusion_metrics.hpp>
#include <distribute/nn/detail/confusion_counts.hpp>
#include <distribute/nn/detail/loss_parts.hpp>
#include <distribute/nn/detail/metric_inputs.hpp>
#include <distribute/nn/detail/weighted_values.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>

#include <algorithm>
#include <utility>

namespace distribute::nn::metrics {

namespace metrics_internal {

/// All rows but the last, and all but the first.
DISTRIBUTE_INLINE Tensor heads(const Tensor& x) { return strided_slice(x, {Range{0, -1}}); }
DISTRIBUTE_INLINE Tensor tails(const Tensor& x) {
  return strided_slice(x, {Range{1, Range::kNone}});
}
DISTRIBUTE_INLINE Tensor not_negative(const Tensor& x) { return maximum(x, scalar_like(x, 0)); }

/// Counts at thresholds that are not even, of each label by itself.
DISTRIBUTE_INLINE ConfusionCounts counts_by_label(const Tensor& y, const Tensor& p,
                                                  const Tensor& weight,
                                                  const std::vector<double>& thresholds) {
  std::vector<Tensor> columns[4];
  for (int64_t label = 0; label < p.shape()[1]; ++label) {
    const auto column = [&](const Tensor& x) { return slice(x, {0, label}, {-1, 1}); };
    const ConfusionCounts counts =
        confusion_counts(column(y), column(p), weight ? column(weight) : Tensor(), thresholds, {});
    columns[0].push_back(counts.true_positives);
    columns[1].push_back(counts.false_positives);
    columns[2].push_back(counts.true_negatives);
    columns[3].push_back(counts.false_negatives);
  }
  return {stack(columns[0], 1), stack(columns[1], 1), stack(columns[2], 1), stack(columns[3], 1)};
}

}  // namespace metrics_internal

DISTRIBUTE_INLINE void AUC::check() const {
  const auto fail = [](const auto&... words) {
    throw InvalidArgumentError(str_cat("AUC: ", words...));
  };
  if (options_.thresholds.empty() && options_.num_thresholds < 2)
    fail("num_thresholds must be at least 2, got ", options_.num_thresholds);
  if (options_.multi_label != (options_.num_labels > 0))
    fail("num_labels, the number of labels, and multi_label need each other");
  const size_t weights = options_.label_weights.size();
  if (weights && int64_t(weights) != std::max<int64_t>(options_.num_labels, 1))
    fail("wanted one label weight for each of ", options_.num_labels, " labels, got ", weights);
}

DISTRIBUTE_INLINE AUC::AUC(AUCOptions options)
    : Metric(options.name), options_(std::move(options)) {
  set_direction(Direction::Up);
  check();
  if (!options_.thresholds.empty()) {
    thresholds_ = metrics_internal::checked_thresholds("AUC", options_.thresholds);
    std::sort(thresholds_.begin(), thresholds_.end());
    thresholds_.insert(thresholds_.begin(), -double(nn_internal::kEpsilon));
    thresholds_.push_back(1 + double(nn_internal::kEpsilon));
  }
  const int64_t rows = thresholds_.empty() ? options_.num_thresholds : int64_t(thresholds_.size());
  const Shape shape{rows, std::max<int64_t>(options_.num_labels, 1)};
  true_positives_ = add_variable("true_positives", shape);
  false_positives_ = add_variable("false_positives", shape);
  true_negatives_ = add_variable("true_negatives", shape);
  false_negatives_ = add_variable("false_negatives", shape);
}

DISTRIBUTE_INLINE void AUC::update_state(const Tensor& y_true, const Tensor& y_pred,
                                         const Tensor& sample_weight) {
  using namespace metrics_internal;
  Tensor predictions = cast(stop_gradient(y_pred), DType::Float32);
  if (options_.from_logits) predictions = sigmoid(predictions);
  const auto both = nn_internal::same_rank("AUC", y_true, predictions);
  const int64_t labels = std::max<int64_t>(options_.num_labels, 1);
  if (options_.multi_label && (both.y_pred.shape().rank() != 2 || both.y_pred.shape()[1] != labels))
    throw InvalidArgumentError(str_cat("AUC: wanted predictions [batch, ", labels, "], got ",
                                       to_string(both.y_pred.shape())));
  const auto columns = [&](const Tensor& x) { return reshape(x, {-1, labels}); };
  const Tensor weight = sample_weight
                            ? columns(nn_internal::fitted_weight(sample_weight, both.y_pred) *
                                      ones(both.y_pred.shape()))
                            : Tensor();
  const Tensor y = columns(both.y_true), p = columns(both.y_pred);
  const ConfusionCounts counts = thresholds_.empty()
                                     ? even_confusion_counts(y, p, weight, options_.num_thresholds)
                                     : counts_by_label(y, p, weight, thresholds_);
  true_positives_.impl().accumulate(counts.true_positives);
  false_positives_.impl().accumulate(counts.false_positives);
  true_negatives_.impl().accumulate(counts.true_negatives);
  false_negatives_.impl().accumulate(counts.false_negatives);
}

DISTRIBUTE_INLINE Tensor AUC::sum_areas(const Tensor& areas) const {
  const Tensor by_label = reduce_sum(areas, {0});
  if (options_.label_weights.empty()) return reduce_mean(by_label);
  const Tensor weights({by_label.shape()[0]}, options_.label_weights);
  return divide_no_nan(reduce_sum(by_label * weights), reduce_sum(weights));
}

DISTRIBUTE_INLINE Tensor AUC::interpolated_precision_recall() const {
  using namespace metrics_internal;
  const Tensor right = true_positives_.value(), positive = right + false_positives_.value();
  const Tensor more_right = heads(right) - tails(right);
  const Tensor more = heads(positive) - tails(positive);
  const Tensor slope = divide_no_nan(more_right, not_negative(more));
  const Tensor intercept = tails(right) - slope * tails(positive);
  const Tensor ratio =
      where(logical_and(greater(heads(positive), zeros_like(more)),
                        greater(tails(positive), zeros_like(more))),
            divide_no_nan(heads(positive), not_negative(tails(positive))), ones_like(more));
  const Tensor all_true = tails(right) + tails(false_negatives_.value());
  return sum_areas(
      divide_no_nan(slope * (more_right + intercept * log(ratio)), not_negative(all_true)));
}

DISTRIBUTE_INLINE Tensor AUC::result() const {
  using namespace metrics_internal;
  const bool interpolates = options_.summation_method == AUCSummationMethod::Interpolation;
  if (options_.curve == AUCCurve::PR && interpolates) return interpolated_precision_recall();
  const Tensor right = true_positives_.value(), wrong = false_positives_.value();
  const Tensor recall = divide_no_nan(right, right + false_negatives_.value());
  const bool roc = options_.curve == AUCCurve::ROC;
  const Tensor x = roc ? divide_no_nan(wrong, wrong + true_negatives_.value()) : recall;
  const Tensor y = roc ? recall : divide_no_nan(right, right + wrong);
  const Tensor here = heads(y), next = tails(y);
  const Tensor height = interpolates ? (here + next) / 2.0f
                        : options_.summation_method == AUCSummationMethod::Minoring
                            ? minimum(here, next)
                            : maximum(here, next);
  return sum_areas((heads(x) - tails(x)) * height);
}

}  // namespace distribute::nn::metrics
