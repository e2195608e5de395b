#pragma once
/// How many predictions are above thresholds, and rightly so.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>
#include <vector>

namespace distribute::nn::metrics::metrics_internal {

/// Which predictions count.
struct ConfusionChoice {
  std::optional<int> top_k = {};     // of the last axis only the k largest are positive
  std::optional<int> class_id = {};  // of the last axis only this class
};

/// Weighted sums at each threshold.
struct ConfusionCounts {
  Tensor true_positives, false_positives, true_negatives, false_negatives;
};

/// A prediction above a threshold is positive, a target that is not 0 true.
/// Shapes  y_true and y_pred alike but for a last axis of 1; weight may be none -> [thresholds].
ConfusionCounts confusion_counts(const Tensor& y_true, const Tensor& y_pred, const Tensor& weight,
                                 const std::vector<double>& thresholds,
                                 const ConfusionChoice& choice);

/// The same for `count` even thresholds from 0 to 1 in time that does not grow with their number. A
/// prediction of 0 is above the first one, as if that lay a little below 0, and none is above the
/// last.
/// Shapes  y_true, y_pred and weight [n, labels] -> [count, labels].
ConfusionCounts even_confusion_counts(const Tensor& y_true, const Tensor& y_pred,
                                      const Tensor& weight, int64_t count);

/// The thresholds that a metric asks for: `otherwise` alone where it asks for none.
/// Throws  InvalidArgumentError for one outside of [0, 1].
std::vector<double> checked_thresholds(const char* metric, std::vector<double> thresholds,
                                       double otherwise = 0.5);

}  // namespace distribute::nn::metrics::metrics_internal
