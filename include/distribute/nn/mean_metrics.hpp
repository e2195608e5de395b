#pragma once
/// Metrics that are means of a function of targets and predictions.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/nn/metrics.hpp>

#include <concepts>
#include <optional>
#include <string>

namespace distribute::nn::metrics {

/// Computes the mean of mean_squared_error() over all examples. Source
/// tf.keras.metrics.MeanSquaredError
class MeanSquaredError : public MeanMetricWrapper {
 public:
  explicit MeanSquaredError(std::string name = "mean_squared_error");
};

/// Computes the mean of mean_absolute_error() over all examples. Source
/// tf.keras.metrics.MeanAbsoluteError
class MeanAbsoluteError : public MeanMetricWrapper {
 public:
  explicit MeanAbsoluteError(std::string name = "mean_absolute_error");
};

/// Mean error in percent of the target. Source  tf.keras.metrics.MeanAbsolutePercentageError
class MeanAbsolutePercentageError : public MeanMetricWrapper {
 public:
  explicit MeanAbsolutePercentageError(std::string name = "mean_absolute_percentage_error");
};

/// Mean squared error of log(y + 1); y below 0 counts as 0.
/// Source  tf.keras.metrics.MeanSquaredLogarithmicError
class MeanSquaredLogarithmicError : public MeanMetricWrapper {
 public:
  explicit MeanSquaredLogarithmicError(std::string name = "mean_squared_logarithmic_error");
};

/// Computes the mean of log_cosh() over all examples. Source  tf.keras.metrics.LogCoshError
class LogCoshError : public MeanMetricWrapper {
 public:
  explicit LogCoshError(std::string name = "logcosh");
};

/// The root of the mean over all elements.
/// Source  tf.keras.metrics.RootMeanSquaredError
class RootMeanSquaredError : public Mean {
 public:
  explicit RootMeanSquaredError(std::string name = "root_mean_squared_error");
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});
  DISTRIBUTE_INLINE Tensor result() const override;
};

struct CosineSimilarityMetricOptions {  // options of metrics::CosineSimilarity
  int axis = -1;
  std::string name = "cosine_similarity";
};

/// Mean cosine of the angle between targets and predictions along `axis`: 1 if they point the same
/// way. The loss of this name is its negative.
/// Source  tf.keras.metrics.CosineSimilarity
class CosineSimilarity : public MeanMetricWrapper {
 public:
  explicit CosineSimilarity(EmptyBraces) : CosineSimilarity() {}
  template <std::convertible_to<std::string> Name>
  explicit CosineSimilarity(const Name& name)
      : CosineSimilarity(CosineSimilarityMetricOptions{.axis = -1, .name = name}) {}
  explicit CosineSimilarity(CosineSimilarityMetricOptions options = {});
};

/// Computes the mean of kl_divergence() over all examples. Source  tf.keras.metrics.KLDivergence
class KLDivergence : public MeanMetricWrapper {
 public:
  explicit KLDivergence(std::string name = "kl_divergence");
};

/// Computes the mean of poisson() over all examples. Source  tf.keras.metrics.Poisson
class Poisson : public MeanMetricWrapper {
 public:
  explicit Poisson(std::string name = "poisson");
};

struct CrossentropyMetricOptions {  // options of metrics of crossentropy
  bool from_logits = false;         // predictions are logits instead of probabilities
  double label_smoothing = 0;       // s: targets become (1 - s) y + s / classes
  std::string name = {};            // empty: Keras's name of the class
};
struct CategoricalCrossentropyMetricOptions {  // options of metrics::CategoricalCrossentropy
  bool from_logits = false;
  double label_smoothing = 0;
  int axis = -1;  // of the classes
  std::string name = {};
};
struct SparseCrossentropyMetricOptions {  // options of metrics::SparseCategoricalCrossentropy
  bool from_logits = false;
  // Targets with loss 0. As in Keras they are left out of the mean where there are sample weights,
  // and count as 0 without.
  std::optional<int64_t> ignore_class = {};
  double label_smoothing = 0;
  std::string name = {};
};

/// Computes the mean of binary_crossentropy() over all examples. Source
/// tf.keras.metrics.BinaryCrossentropy
class BinaryCrossentropy : public MeanMetricWrapper {
 public:
  explicit BinaryCrossentropy(EmptyBraces) : BinaryCrossentropy() {}
  template <std::convertible_to<std::string> Name>
  explicit BinaryCrossentropy(const Name& name)
      : BinaryCrossentropy(
            CrossentropyMetricOptions{.from_logits = false, .label_smoothing = 0, .name = name}) {}
  explicit BinaryCrossentropy(CrossentropyMetricOptions options = {});
};

/// Computes the mean of categorical_crossentropy() over all examples.
/// Source  tf.keras.metrics.CategoricalCrossentropy
class CategoricalCrossentropy : public MeanMetricWrapper {
 public:
  explicit CategoricalCrossentropy(EmptyBraces) : CategoricalCrossentropy() {}
  template <std::convertible_to<std::string> Name>
  explicit CategoricalCrossentropy(const Name& name)
      : CategoricalCrossentropy(CategoricalCrossentropyMetricOptions{.name = name}) {}
  explicit CategoricalCrossentropy(CategoricalCrossentropyMetricOptions options = {});
};

/// y_true: class numbers [batch...]. Source  tf.keras.metrics.SparseCategoricalCrossentropy
class SparseCategoricalCrossentropy : public MeanMetricWrapper {
 public:
  explicit SparseCategoricalCrossentropy(EmptyBraces) : SparseCategoricalCrossentropy() {}
  template <std::convertible_to<std::string> Name>
  explicit SparseCategoricalCrossentropy(const Name& name)
      : SparseCategoricalCrossentropy(SparseCrossentropyMetricOptions{.name = name}) {}
  explicit SparseCategoricalCrossentropy(SparseCrossentropyMetricOptions options = {});
};

struct PerplexityOptions {  // options of Perplexity
  bool from_logits = false;
  std::optional<int64_t> mask_token_id = {};  // targets that do not count
  std::string name = "perplexity";
};

/// e to the power of the mean crossentropy of the tokens.
/// Shapes  y_true integer [batch, tokens], y_pred [batch, tokens, vocabulary].
/// Source  keras_hub.metrics.Perplexity
class Perplexity : public Mean {
 public:
  explicit Perplexity(EmptyBraces) : Perplexity() {}
  explicit Perplexity(PerplexityOptions options = {});
  void update_state(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {});
  DISTRIBUTE_INLINE Tensor result() const override;

 private:
  PerplexityOptions options_;
};

/// Computes the mean of hinge() over all examples. Source  tf.keras.metrics.Hinge
class Hinge : public MeanMetricWrapper {
 public:
  explicit Hinge(std::string name = "hinge");
};

/// Computes the mean of squared_hinge() over all examples. Source  tf.keras.metrics.SquaredHinge
class SquaredHinge : public MeanMetricWrapper {
 public:
  explicit SquaredHinge(std::string name = "squared_hinge");
};

/// Computes the mean of categorical_hinge() over all examples. Source
/// tf.keras.metrics.CategoricalHinge
class CategoricalHinge : public MeanMetricWrapper {
 public:
  explicit CategoricalHinge(std::string name = "categorical_hinge");
};

}  // namespace distribute::nn::metrics
