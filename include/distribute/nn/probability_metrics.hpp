#pragma once
/// Means of losses between distributions, and perplexity.

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/nn/losses.hpp>
#include <distribute/nn/metrics.hpp>

#include <optional>
#include <string>

namespace distribute::nn::metrics {

/// Mean of kl_divergence() over all examples. Source  tf.keras.metrics.KLDivergence
class KLDivergence : public MeanMetricWrapper {
 public:
  explicit KLDivergence(std::string name = "kl_divergence");
};

/// Mean of poisson() over all examples. Source  tf.keras.metrics.Poisson
class Poisson : public MeanMetricWrapper {
 public:
  explicit Poisson(std::string name = "poisson");
};

/// Mean of binary_crossentropy() over all examples. Source  tf.keras.metrics.BinaryCrossentropy
class BinaryCrossentropy : public MeanMetricWrapper {
 public:
  explicit BinaryCrossentropy(std::string name = "binary_crossentropy",
                              CrossentropyOptions options = {});
};

/// Mean of categorical_crossentropy(). Source  tf.keras.metrics.CategoricalCrossentropy
class CategoricalCrossentropy : public MeanMetricWrapper {
 public:
  explicit CategoricalCrossentropy(std::string name = "categorical_crossentropy",
                                   CrossentropyOptions options = {});
};

/// y_true: class numbers [batch...]. Source  tf.keras.metrics.SparseCategoricalCrossentropy
class SparseCategoricalCrossentropy : public MeanMetricWrapper {
 public:
  explicit SparseCategoricalCrossentropy(std::string name = "sparse_categorical_crossentropy",
                                         CrossentropyOptions options = {});
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

}  // namespace distribute::nn::metrics
