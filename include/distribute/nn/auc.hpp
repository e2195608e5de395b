#pragma once
/// Area under a curve of predictions against thresholds.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/nn/metrics.hpp>

#include <optional>
#include <string>
#include <vector>

namespace distribute::nn::metrics {

/// ROC: true positives against false positives; PR: precision against recall.
enum class AUCCurve { ROC, PR };
/// Between two points: the trapezoid (for PR the interpolation of Davis & Goadrich 2006), the lower
/// or the higher of both.
enum class AUCSummationMethod { Interpolation, Minoring, Majoring };

struct AUCOptions {              // options of AUC
  int64_t num_thresholds = 200;  // evenly from 0 to 1
  AUCCurve curve = AUCCurve::ROC;
  AUCSummationMethod summation_method = AUCSummationMethod::Interpolation;
  std::vector<double> thresholds = {};  // instead, beside 0 and 1
  bool multi_label = false;             // the mean of the areas of all labels
  int64_t num_labels = 0;               // with multi_label
  std::vector<float> label_weights = {};
  bool from_logits = false;
  std::string name = "auc";
};

/// Approximated by sums at the thresholds, so that replicas and workers add up exactly.
/// Shapes  targets and predictions [batch...] alike, with multi_label [batch, labels];
///         sample_weight as in Mean.
/// Throws  InvalidArgumentError for fewer than two thresholds, one outside of [0, 1], multi_label
///         without num_labels or the other way round, and label weights of another number.
/// Source  tf.keras.metrics.AUC
class AUC : public Metric {
 public:
  explicit AUC(EmptyBraces) : AUC() {}
  explicit AUC(AUCOptions options = {});
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});
  DISTRIBUTE_INLINE Tensor result() const override;

 private:
  void check() const;
  /// Shapes  [thresholds, labels] -> a scalar.
  Tensor sum_areas(const Tensor& areas) const;
  Tensor interpolated_precision_recall() const;

  AUCOptions options_;
  std::vector<double> thresholds_;  // empty: num_thresholds even ones
  Variable true_positives_, false_positives_, true_negatives_, false_negatives_;
};

}  // namespace distribute::nn::metrics
