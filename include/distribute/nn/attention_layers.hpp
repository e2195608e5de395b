#pragma once
/// Attention without projections, and with a sum in place of the product.

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

/// What a call of attention may say. Masks are bool, true where a step counts.
struct AttentionCall {
  Tensor query_mask = {};                    // [batch, queries]; none: the query's own
  Tensor value_mask = {};                    // [batch, keys]; none: the value's own
  std::optional<bool> use_causal_mask = {};  // unset: the layer's
  bool training = false;
};

struct AttentionResult {  // of AttentionLayer::attend
  Tensor output;          // [batch, queries, features of the value]
  Tensor scores;          // [batch, queries, keys], the probabilities
};

/// Means of the values with the probabilities softmax(scores of query and key). Called with the
/// tensors {query, value} or {query, value, key}; without a key it is the value. Values that a mask
/// leaves out have probability 0, queries that it leaves out give 0; the result has the query's
/// mask.
/// Shapes  query [batch, queries, d], value [batch, keys, v], key [batch, keys, d] ->
///         [batch, queries, v].
/// Throws  InvalidArgumentError for other than two or three tensors.
class AttentionLayer : public MultiInputModule {
 public:
  DISTRIBUTE_INLINE ~AttentionLayer() override;
  AttentionLayer(AttentionLayer&&) noexcept;
  AttentionLayer& operator=(AttentionLayer&&) noexcept;

  /// Whether no query sees a later key, where a call does not say.
  bool use_causal_mask() const { return use_causal_mask_; }
  /// The result with its probabilities, and masks that the tensors do not have themselves.
  AttentionResult attend(const std::vector<Tensor>& inputs, AttentionCall call = {});

 protected:
  AttentionLayer(const char* layer, double dropout, bool use_causal_mask,
                 std::optional<uint64_t> seed, std::string name);
  /// [batch, queries, keys].
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

/// Dot: the product of query and key. Concat: the sum of tanh(query + key) over the features times
/// a weight "concat_score_weight", a scalar.
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
  /// The options that the constructor got.
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

/// Scores sum(scale tanh(query + key)) over the features.
/// Source  tf.keras.layers.AdditiveAttention; Bahdanau et al. 2014
class AdditiveAttention : public AttentionLayer {
 public:
  explicit AdditiveAttention(EmptyBraces) : AdditiveAttention() {}
  explicit AdditiveAttention(AdditiveAttentionOptions options = {});
  /// The options that the constructor got.
  const AdditiveAttentionOptions& options() const { return options_; }

 private:
  DISTRIBUTE_INLINE Tensor scores(const Tensor& query, const Tensor& key) const override;
  DISTRIBUTE_INLINE void build(const Shape& query) override;
  std::string kind() const override { return "additive_attention"; }

  AdditiveAttentionOptions options_;
  Variable scale_;
};

}  // namespace distribute::nn
