#pragma once
/// Attention layers without projections: scores by products, or by sums.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/nn/merging.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace distribute::nn::nn_internal {
class ReplicaCalls;
}

namespace distribute::nn {

/// Optional arguments of a call. Masks are bool, true for steps that count.
struct AttentionCall {
  // [batch, queries]; empty: the mask that the query carries
  Tensor query_mask = {};
  // [batch, keys]; empty: the mask that the value carries
  Tensor value_mask = {};
  std::optional<bool> use_causal_mask = {};  // unset: as in the layer's options
  bool training = false;
};

struct AttentionResult {  // of AttentionLayer::attend
  Tensor output;          // [batch, queries, features of the value]
  Tensor scores;          // [batch, queries, keys], the probabilities
};

/// Averages the values with the probabilities softmax(scores of query and key). It is called with
/// the tensors {query, value} or {query, value, key}; without a key the value is the key. A masked
/// value has probability 0, a masked query gives 0; the result carries the query's mask.
/// Shapes  query [batch, queries, d], value [batch, keys, v], key [batch, keys, d] -> [batch,
///          queries, v].
/// Throws  InvalidArgumentError for other than two or three tensors.
class AttentionLayer : public MultiInputModule {
 public:
  DISTRIBUTE_INLINE ~AttentionLayer() override;
  AttentionLayer(AttentionLayer&&) noexcept;
  AttentionLayer& operator=(AttentionLayer&&) noexcept;

  /// Returns whether queries ignore later keys in calls that do not set it themselves.
  bool use_causal_mask() const { return use_causal_mask_; }
  /// Returns the result and the probabilities. The masks in `call` replace those of the tensors.
  AttentionResult attend(const std::vector<Tensor>& inputs, AttentionCall call = {});

 protected:
  AttentionLayer(const char* layer, double dropout, bool use_causal_mask,
                 std::optional<uint64_t> seed, std::string name);
  /// Returns the scores, [batch, queries, keys].
  virtual Tensor scores(const Tensor& query, const Tensor& key) const = 0;

 private:
  DISTRIBUTE_INLINE Tensor call_all(std::span<const Tensor> inputs, CallOptions options) override;
  DISTRIBUTE_INLINE Tensor compute_mask(std::span<const Tensor> inputs) const override;
  bool supports_masking() const override { return true; }
  AttentionResult compute(std::span<const Tensor> inputs, const AttentionCall& call);
  void check_count(size_t count) const;

  const char* layer_;
  double dropout_;
  bool use_causal_mask_;
  uint64_t seed_;
  Pimpl<nn_internal::ReplicaCalls> calls_;
};

/// Dot takes the product of query and key. Concat sums tanh(query + key) over the features and
/// multiplies by a weight "concat_score_weight", a scalar.
enum class ScoreMode : uint8_t { Dot, Concat };

struct AttentionLayerOptions {  // options of Attention
  bool use_scale = false;       // a weight "scale", a scalar, times the product or the sum
  ScoreMode score_mode = ScoreMode::Dot;
  double dropout = 0;            // of the probabilities, in training
  bool use_causal_mask = false;  // no query sees a later key
  std::optional<uint64_t> seed = {};
  std::string name = {};
};

/// Source  tf.keras.layers.Attention; Luong et al. 2015
class Attention : public AttentionLayer {
 public:
  explicit Attention(EmptyBraces) : Attention() {}
  /// Throws  InvalidArgumentError for a dropout outside [0, 1).
  explicit Attention(AttentionLayerOptions options = {});
  /// Returns the options that the constructor got.
  const AttentionLayerOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor scores(const Tensor& query, const Tensor& key) const override;
  DISTRIBUTE_INLINE void build(const Shape& query) override;
  std::string kind() const override { return "attention"; }

  AttentionLayerOptions options_;
  Variable scale_, concat_score_weight_;
};

struct AdditiveAttentionOptions {  // options of AdditiveAttention
  bool use_scale = true;           // a weight "scale" [d]
  double dropout = 0;              // of the probabilities, in training
  bool use_causal_mask = false;
  std::optional<uint64_t> seed = {};
  std::string name = {};
};

/// Attention with the scores sum(scale tanh(query + key)) over the features.
/// Source  tf.keras.layers.AdditiveAttention; Bahdanau et al. 2014
class AdditiveAttention : public AttentionLayer {
 public:
  explicit AdditiveAttention(EmptyBraces) : AdditiveAttention() {}
  explicit AdditiveAttention(AdditiveAttentionOptions options = {});
  /// Returns the options that the constructor got.
  const AdditiveAttentionOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor scores(const Tensor& query, const Tensor& key) const override;
  DISTRIBUTE_INLINE void build(const Shape& query) override;
  std::string kind() const override { return "additive_attention"; }

  AdditiveAttentionOptions options_;
  Variable scale_;
};

}  // namespace distribute::nn
