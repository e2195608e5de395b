#pragma once
/// Counts predictions above thresholds, and how many of them are right.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <optional>
#include <vector>

namespace distribute::nn::metrics::metrics_internal {

/// Selects the predictions that count.
struct ConfusionChoice {
  std::optional<int> top_k = {};     // only the k largest elements of the last axis are positive
  std::optional<int> class_id = {};  // only this class of the last axis counts
};

/// Weighted sums at each threshold.
struct ConfusionCounts {
  Tensor true_positives, false_positives, true_negatives, false_negatives;
};

/// Counts a prediction above a threshold as positive and a target other than 0 as true.
/// Shapes  y_true and y_pred alike but for a last axis of 1; weight may be empty -> [thresholds].
ConfusionCounts confusion_counts(const Tensor& y_true, const Tensor& y_pred, const Tensor& weight,
                                 const std::vector<double>& thresholds,
                                 const ConfusionChoice& choice);

/// Counts at `count` even thresholds from 0 to 1, in time that does not grow with their number. A
/// prediction of 0 is above the first threshold, as if that lay a little below 0; no prediction is
/// above the last.
/// Shapes  y_true, y_pred and weight [n, labels] -> [count, labels].
ConfusionCounts even_confusion_counts(const Tensor& y_true, const Tensor& y_pred,
                                      const Tensor& weight, int64_t count);

/// Returns the thresholds that a metric is given, or `otherwise` if there are none.
/// Throws  InvalidArgumentError for one outside of [0, 1].
std::vector<double> checked_thresholds(const char* metric, std::vector<double> thresholds,
                                       double otherwise = 0.5);

}  // namespace distribute::nn::metrics::metrics_internal
