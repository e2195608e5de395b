#pragma once
/// Metrics from counts of right and wrong predictions: precision, recall, AUC, F-scores, overlaps.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/nn/detail/confusion_counts.hpp>
#include <distribute/nn/metrics.hpp>

#include <optional>
#include <string>
#include <vector>

namespace distribute::nn::metrics {

/// Sums one kind of predictions at each threshold. A prediction above the threshold is positive, a
/// target other than 0 is true. result() is a scalar for one threshold, else [thresholds].
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

struct ConfusionCountOptions {          // options of TruePositives and its siblings
  std::vector<double> thresholds = {};  // empty: 0.5
  std::string name = {};                // empty: Keras's name of the class
};

/// Counts at the threshold 0.5 unless others are given.
/// Throws  InvalidArgumentError for a threshold outside of [0, 1].
class TruePositives : public ConfusionCount {
 public:
  explicit TruePositives(EmptyBraces) : TruePositives() {}
  explicit TruePositives(ConfusionCountOptions options = {});
};
class FalsePositives : public ConfusionCount {
 public:
  explicit FalsePositives(EmptyBraces) : FalsePositives() {}
  explicit FalsePositives(ConfusionCountOptions options = {});
};
class TrueNegatives : public ConfusionCount {
 public:
  explicit TrueNegatives(EmptyBraces) : TrueNegatives() {}
  explicit TrueNegatives(ConfusionCountOptions options = {});
};
class FalseNegatives : public ConfusionCount {
 public:
  explicit FalseNegatives(EmptyBraces) : FalseNegatives() {}
  explicit FalseNegatives(ConfusionCountOptions options = {});
};

struct PrecisionOptions {               // options of Precision
  std::vector<double> thresholds = {};  // empty: 0.5, or no threshold with top_k
  std::optional<int> top_k = {};        // only the k largest elements of the last axis are positive
  std::optional<int> class_id = {};     // only this class of the last axis counts
  std::string name = "precision";
};

/// True positives divided by all positives; 0 if there are no positives.
/// Source  tf.keras.metrics.Precision
class Precision : public Metric {
 public:
  explicit Precision(EmptyBraces) : Precision() {}
  explicit Precision(PrecisionOptions options = {});
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});
  /// Returns a scalar for one threshold, else [thresholds].
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

/// True positives divided by all true targets; 0 if there are none. It has the options of
/// Precision.
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

/// ROC plots true positives against false positives, PR precision against recall.
enum class AUCCurve { ROC, PR };
/// How the area between two points is estimated: by the trapezoid (for PR the interpolation of
/// Davis & Goadrich 2006), or by the lower or the higher of both.
enum class AUCSummationMethod { Interpolation, Minoring, Majoring };

struct AUCOptions {              // options of AUC
  int64_t num_thresholds = 200;  // spread evenly from 0 to 1
  AUCCurve curve = AUCCurve::ROC;
  AUCSummationMethod summation_method = AUCSummationMethod::Interpolation;
  std::vector<double> thresholds = {};  // used in place of num_thresholds, with 0 and 1 added
  bool multi_label = false;             // the mean of the areas of all labels
  int64_t num_labels = 0;               // required with multi_label
  std::vector<float> label_weights = {};
  bool from_logits = false;
  std::string name = "auc";
};

/// Area under a curve, approximated by sums at the thresholds, so that the sums of replicas and
/// workers add up exactly.
/// Shapes  targets and predictions [batch...] alike, with multi_label [batch, labels];
///          sample_weight as in Mean.
/// Throws  InvalidArgumentError for fewer than two thresholds, one outside of [0, 1], multi_label
///          without num_labels or the other way round, and a wrong number of label weights.
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

/// How the scores of the classes become a result: None keeps them, Micro counts all elements
/// together, Macro averages, Weighted averages by the number of true examples of each class.
enum class FScoreAverage { None, Micro, Macro, Weighted };

struct FBetaScoreOptions {  // options of FBetaScore
  FScoreAverage average = FScoreAverage::None;
  double beta = 1.0;  // recall counts beta times as much as precision
  // Predictions above it are positive; if it is unset, the largest of each example is.
  std::optional<double> threshold = {};
  std::string name = "fbeta_score";
};

/// (1 + beta^2) precision recall / (beta^2 precision + recall).
/// Shapes  targets, 0 or 1, and predictions [batch, classes]; sample_weight [batch]; result
///         [classes] without average, else a scalar.
/// Throws  InvalidArgumentError for a beta or threshold that is not positive, a threshold above 1,
///         and other shapes.
/// Source  tf.keras.metrics.FBetaScore
class FBetaScore : public Metric {
 public:
  explicit FBetaScore(EmptyBraces) : FBetaScore() {}
  explicit FBetaScore(FBetaScoreOptions options = {});
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});
  DISTRIBUTE_INLINE Tensor result() const override;

 private:
  FBetaScoreOptions options_;
  Variable true_positives_, false_positives_, false_negatives_, of_classes_;
};

struct F1ScoreOptions {  // options of F1Score
  FScoreAverage average = FScoreAverage::None;
  std::optional<double> threshold = {};
  std::string name = "f1_score";
};

/// FBetaScore with beta 1.
/// Source  tf.keras.metrics.F1Score
class F1Score : public FBetaScore {
 public:
  explicit F1Score(EmptyBraces) : F1Score() {}
  explicit F1Score(F1ScoreOptions options = {});
};

struct IoUOptions {  // options of IoU
  int64_t num_classes;
  std::vector<int64_t> target_class_ids;
  std::optional<int64_t> ignore_class = {};  // targets that do not count
  bool sparse_y_true = true;                 // targets are class numbers, else one-hot
  // predictions are class numbers, else the largest score's class
  bool sparse_y_pred = true;
  // axis of the classes, if targets or predictions are not sparse
  int axis = -1;
  std::string name = "io_u";
};

/// The mean, over the target classes that occur, of intersection / union of the area of the class
/// and the area predicted for it. Class numbers out of range do not count.
/// Shapes  class numbers [batch...]; sample_weight has the same shape or is a scalar.
/// Throws  InvalidArgumentError for a target class id out of range in the options.
/// Source  tf.keras.metrics.IoU, OneHotIoU
class IoU : public Metric {
 public:
  explicit IoU(IoUOptions options);
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});
  DISTRIBUTE_INLINE Tensor result() const override;

 private:
  IoUOptions options_;
  Variable confusion_;  // [true class, predicted class]
};

struct MeanIoUOptions {  // options of MeanIoU
  int64_t num_classes;
  std::optional<int64_t> ignore_class = {};
  bool sparse_y_true = true;
  bool sparse_y_pred = true;
  int axis = -1;
  std::string name = "mean_io_u";
};

/// The mean of intersection over union of all classes.
/// Source  tf.keras.metrics.MeanIoU, OneHotMeanIoU
class MeanIoU : public IoU {
 public:
  explicit MeanIoU(MeanIoUOptions options);
};

struct BinaryIoUOptions {  // options of BinaryIoU
  std::vector<int64_t> target_class_ids = {0, 1};
  double threshold = 0.5;  // predictions from here on are class 1
  std::string name = "binary_io_u";
};

/// The mean of intersection over union of two classes, which a threshold separates.
/// Source  tf.keras.metrics.BinaryIoU
class BinaryIoU : public IoU {
 public:
  explicit BinaryIoU(EmptyBraces) : BinaryIoU() {}
  explicit BinaryIoU(BinaryIoUOptions options = {});
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});

 private:
  double threshold_;
};

}  // namespace distribute::nn::metrics
