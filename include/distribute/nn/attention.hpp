#pragma once
/// The layer of attention with several heads.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/nn/constraints.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/regularizers.hpp>

#include <concepts>
#include <optional>
#include <utility>

namespace distribute::nn::nn_internal {
class ReplicaCalls;
}

namespace distribute::nn {

struct MultiHeadAttentionOptions {  // options of MultiHeadAttention
  int64_t num_heads = 0;
  int64_t key_dim = 0;                    // of each head, for queries and keys
  std::optional<int64_t> value_dim = {};  // of each head; unset: key_dim
  double dropout = 0;                     // of the probabilities, in training
  bool use_bias = true;
  std::optional<int64_t> output_shape = {};  // unset: the query's features
  bool use_causal_mask = false;              // where call() does not say
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer bias_initializer = initializers::zeros();
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Constraint kernel_constraint = {};  // of each of the four products, as in Keras
  Constraint bias_constraint = {};
  std::optional<uint64_t> seed = {};  // of the dropout; unset: the next one of the program
  std::string name = {};
};

/// What a call may say beside query and value. Masks are bool, true where a place counts.
struct MultiHeadAttentionCall {
  Tensor key = {};                           // none: the value
  Tensor query_mask = {};                    // [batch, queries]
  Tensor value_mask = {};                    // [batch, keys]
  Tensor key_mask = {};                      // [batch, keys]
  Tensor attention_mask = {};                // [batch or 1, queries, keys]
  std::optional<bool> use_causal_mask = {};  // unset: the layer's
  bool training = false;
};

/// Queries, keys and values of every head by a product, attention (ops/attention.hpp), and a
/// product that joins the heads. Called with one tensor it is self-attention, whose mask says which
/// places count as query and as key. Masks that a call does not give are those of the tensors; the
/// result has the query's, and the tensors have none any more, as in Keras 3: Add of x and
/// attention(x, x) has no mask. Where a query may look at no key, attention gives the mean of all
/// values, or zeros with dropout, in training or not, as Keras.
/// Shapes  query [batch, queries, d], value and key [batch, keys, ...] -> [batch, queries,
///         output_shape]; query/kernel [d, heads, key_dim], query/bias [heads, key_dim], key and
///         value likewise, attention_output/kernel [heads, value_dim, output_shape].
/// Source  tf.keras.layers.MultiHeadAttention; Vaswani et al. 2017
class MultiHeadAttention : public Module {
 public:
  /// Throws  InvalidArgumentError for sizes below 1 or a dropout outside [0, 1).
  explicit MultiHeadAttention(MultiHeadAttentionOptions options);
  DISTRIBUTE_INLINE ~MultiHeadAttention() override;
  MultiHeadAttention(MultiHeadAttention&&) noexcept;
  MultiHeadAttention& operator=(MultiHeadAttention&&) noexcept;

  using Module::operator();
  /// Two tensors; a template, so that braces are never taken for the second one.
  template <std::same_as<Tensor> T>
  Tensor operator()(const Tensor& query, const T& value, MultiHeadAttentionCall options = {}) {
    return call_with(query, value, std::move(options));
  }
  /// The options that the constructor got.
  const MultiHeadAttentionOptions& options() const { return options_; }

 private:
  class Projection;
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build_all(std::span<const Shape> inputs) override;
  std::string kind() const override { return "multi_head_attention"; }
  bool supports_masking() const override { return true; }
  Tensor call_with(const Tensor& query, const Tensor& value, MultiHeadAttentionCall options);
  Tensor attend(const Tensor& query, const Tensor& value, const MultiHeadAttentionCall& options);
  Projection& part(const char* name, int64_t taken, std::vector<int64_t> given);

  MultiHeadAttentionOptions options_;
  uint64_t seed_;
  Pimpl<nn_internal::ReplicaCalls> calls_;
  Projection *query_, *key_, *value_, *output_;
};

}  // namespace distribute::nn
