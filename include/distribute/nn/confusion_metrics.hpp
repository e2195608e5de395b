#pragma once
/// Precision, recall, and the counts behind them.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/nn/detail/confusion_counts.hpp>
#include <distribute/nn/metrics.hpp>

#include <optional>
#include <string>
#include <vector>

namespace distribute::nn::metrics {

/// The sum of one kind of predictions at each threshold. A prediction above the threshold is
/// positive, a target that is not 0 true. result() is a scalar for one threshold, else
/// [thresholds].
/// Shapes  targets and predictions [batch...] alike; sample_weight as in Mean.
/// Source  tf.keras.metrics.TruePositives and its siblings
class ConfusionCount : public Metric {
 public:
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});
  DISTRIBUTE_INLINE Tensor result() const override;

 protected:
  using Counts = metrics_internal::ConfusionCounts;
  ConfusionCount(Tensor Counts::*kind, std::vector<double> thresholds, std::string name);

 private:
  Tensor Counts::*kind_;
  std::vector<double> thresholds_;
  Variable accumulator_;
};

/// Without thresholds 0.5.
/// Throws  InvalidArgumentError for a threshold outside of [0, 1].
class TruePositives : public ConfusionCount {
 public:
  explicit TruePositives(std::vector<double> thresholds = {}, std::string name = "true_positives");
};
class FalsePositives : public ConfusionCount {
 public:
  explicit FalsePositives(std::vector<double> thresholds = {},
                          std::string name = "false_positives");
};
class TrueNegatives : public ConfusionCount {
 public:
  explicit TrueNegatives(std::vector<double> thresholds = {}, std::string name = "true_negatives");
};
class FalseNegatives : public ConfusionCount {
 public:
  explicit FalseNegatives(std::vector<double> thresholds = {},
                          std::string name = "false_negatives");
};

struct PrecisionOptions {               // options of Precision
  std::vector<double> thresholds = {};  // 0.5; with top_k none
  std::optional<int> top_k = {};        // of the last axis only the k largest are positive
  std::optional<int> class_id = {};     // of the last axis only this class counts
  std::string name = "precision";
};

/// True positives of all positives; 0 without any.
/// Source  tf.keras.metrics.Precision
class Precision : public Metric {
 public:
  explicit Precision(EmptyBraces) : Precision() {}
  explicit Precision(PrecisionOptions options = {});
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});
  /// A scalar for one threshold, else [thresholds].
  DISTRIBUTE_INLINE Tensor result() const override;

 private:
  std::vector<double> thresholds_;
  metrics_internal::ConfusionChoice choice_;
  Variable true_positives_, false_positives_;
};

struct RecallOptions {  // options of Recall
  std::vector<double> thresholds = {};
  std::optional<int> top_k = {};
  std::optional<int> class_id = {};
  std::string name = "recall";
};

/// True positives of all that is true; 0 without any. Options as of Precision.
/// Source  tf.keras.metrics.Recall
class Recall : public Metric {
 public:
  explicit Recall(EmptyBraces) : Recall() {}
  explicit Recall(RecallOptions options = {});
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});
  DISTRIBUTE_INLINE Tensor result() const override;

 private:
  std::vector<double> thresholds_;
  metrics_internal::ConfusionChoice choice_;
  Variable true_positives_, false_negatives_;
};

}  // namespace distribute::nn::metrics
