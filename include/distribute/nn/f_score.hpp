#pragma once
/// F scores: one number for precision and recall.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/nn/metrics.hpp>

#include <optional>
#include <string>

namespace distribute::nn::metrics {

/// What becomes of the scores of the classes: all of them, one score of all elements, their mean,
/// their mean by the number of true examples.
enum class FScoreAverage { None, Micro, Macro, Weighted };

struct FBetaScoreOptions {  // options of FBetaScore
  FScoreAverage average = FScoreAverage::None;
  double beta = 1.0;  // how many times recall counts
  // A prediction above it is positive; without one, the largest of each example.
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

}  // namespace distribute::nn::metrics
