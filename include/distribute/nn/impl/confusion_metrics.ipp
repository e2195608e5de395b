#pragma once
#include <distribute/nn/confusion_metrics.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

#include <utility>

namespace distribute::nn::metrics {

namespace metrics_internal {

/// Returns a scalar if there is one threshold.
DISTRIBUTE_INLINE Tensor by_threshold(const Tensor& values) {
  return values.num_elements() == 1 ? reshape(values, Shape{}) : values;
}

DISTRIBUTE_INLINE std::vector<double> thresholds_beside(const char* metric,
                                                        const std::vector<double>& thresholds,
                                                        const ConfusionChoice& choice) {
  return checked_thresholds(metric, thresholds, choice.top_k ? -1e10 : 0.5);
}

}  // namespace metrics_internal

DISTRIBUTE_INLINE ConfusionCount::ConfusionCount(Tensor Counts::*kind,
                                                 std::vector<double> thresholds, std::string name)
    : Metric(std::move(name)),
      kind_(kind),
      thresholds_(
          metrics_internal::checked_thresholds(this->name().c_str(), std::move(thresholds))) {
  accumulator_ = add_variable("accumulator", {int64_t(thresholds_.size())});
}
DISTRIBUTE_INLINE void ConfusionCount::update_state(const Tensor& y_true, const Tensor& y_pred,
                                                    const Tensor& sample_weight) {
  const Counts counts =
      metrics_internal::confusion_counts(y_true, y_pred, sample_weight, thresholds_, {});
  accumulator_.impl().accumulate(counts.*kind_);
}
DISTRIBUTE_INLINE Tensor ConfusionCount::result() const {
  return metrics_internal::by_threshold(accumulator_.value());
}

DISTRIBUTE_INLINE TruePositives::TruePositives(ConfusionCountOptions options)
    : ConfusionCount(&Counts::true_positives, std::move(options.thresholds),
                     options.name.empty() ? "true_positives" : options.name) {}
DISTRIBUTE_INLINE FalsePositives::FalsePositives(ConfusionCountOptions options)
    : ConfusionCount(&Counts::false_positives, std::move(options.thresholds),
                     options.name.empty() ? "false_positives" : options.name) {}
DISTRIBUTE_INLINE TrueNegatives::TrueNegatives(ConfusionCountOptions options)
    : ConfusionCount(&Counts::true_negatives, std::move(options.thresholds),
                     options.name.empty() ? "true_negatives" : options.name) {}
DISTRIBUTE_INLINE FalseNegatives::FalseNegatives(ConfusionCountOptions options)
    : ConfusionCount(&Counts::false_negatives, std::move(options.thresholds),
                     options.name.empty() ? "false_negatives" : options.name) {}

DISTRIBUTE_INLINE Precision::Precision(PrecisionOptions options)
    : Metric(options.name), choice_{options.top_k, options.class_id} {
  set_direction(Direction::Up);
  thresholds_ = metrics_internal::thresholds_beside("Precision", options.thresholds, choice_);
  true_positives_ = add_variable("true_positives", {int64_t(thresholds_.size())});
  false_positives_ = add_variable("false_positives", {int64_t(thresholds_.size())});
}
DISTRIBUTE_INLINE void Precision::update_state(const Tensor& y_true, const Tensor& y_pred,
                                               const Tensor& sample_weight) {
  const auto counts =
      metrics_internal::confusion_counts(y_true, y_pred, sample_weight, thresholds_, choice_);
  true_positives_.impl().accumulate(counts.true_positives);
  false_positives_.impl().accumulate(counts.false_positives);
}
DISTRIBUTE_INLINE Tensor Precision::result() const {
  const Tensor right = true_positives_.value();
  return metrics_internal::by_threshold(divide_no_nan(right, right + false_positives_.value()));
}

DISTRIBUTE_INLINE Recall::Recall(RecallOptions options)
    : Metric(options.name), choice_{options.top_k, options.class_id} {
  set_direction(Direction::Up);
  thresholds_ = metrics_internal::thresholds_beside("Recall", options.thresholds, choice_);
  true_positives_ = add_variable("true_positives", {int64_t(thresholds_.size())});
  false_negatives_ = add_variable("false_negatives", {int64_t(thresholds_.size())});
}
DISTRIBUTE_INLINE void Recall::update_state(const Tensor& y_true, const Tensor& y_pred,
                                            const Tensor& sample_weight) {
  const auto counts =
      metrics_internal::confusion_counts(y_true, y_pred, sample_weight, thresholds_, choice_);
  true_positives_.impl().accumulate(counts.true_positives);
  false_negatives_.impl().accumulate(counts.false_negatives);
}
DISTRIBUTE_INLINE Tensor Recall::result() const {
  const Tensor right = true_positives_.value();
  return metrics_internal::by_threshold(divide_no_nan(right, right + false_negatives_.value()));
}

}  // namespace distribute::nn::metrics
