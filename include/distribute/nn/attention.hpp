#pragma once
/// Multi-head attention as a layer.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/pimpl.hpp>
#include <distribute/nn/attention_layers.hpp>
#include <distribute/nn/lora.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/nn/regularizers.hpp>
#include <distribute/ops/activation.hpp>

#include <concepts>
#include <optional>
#include <utility>

namespace distribute::nn {

struct AttentionOptions;

struct MultiHeadAttentionOptions {  // options of MultiHeadAttention
  int64_t num_heads = 0;
  int64_t key_dim = 0;                    // size of each head's queries and keys
  std::optional<int64_t> value_dim = {};  // size of each head's values; unset: key_dim
  // probability of dropping an attention probability in training
  double dropout = 0;
  bool use_bias = true;
  std::optional<int64_t> output_shape = {};  // unset: the query's features
  // axes of query and key that attend to each other; empty: all between batch and features
  std::vector<int> attention_axes = {};
  // a query attends only to keys of positions nearer than this; unset: to all
  std::optional<int64_t> sliding_window = {};
  bool use_causal_mask = false;  // used by calls that do not set their own
  Initializer kernel_initializer = initializers::glorot_uniform();
  Initializer bias_initializer = initializers::zeros();
  Regularizer kernel_regularizer = {}, bias_regularizer = {};
  Regularizer activity_regularizer = {};  // on results of each of the four products
  Constraint kernel_constraint = {};      // of each of the four products, as in Keras
  Constraint bias_constraint = {};
  bool use_gate = false;  // multiplies what heads give by sigmoid of another product of the query
  std::optional<uint64_t> seed = {};  // of the dropout; unset: drawn from the program's seeds
  std::string name = {};
};

/// Optional arguments of a call beside query and value. Masks are bool, true for positions that
/// count.
struct MultiHeadAttentionCall {
  Tensor key = {};                           // empty: the value is the key
  Tensor query_mask = {};                    // [batch, queries]
  Tensor value_mask = {};                    // [batch, keys]
  Tensor key_mask = {};                      // [batch, keys]
  Tensor attention_mask = {};                // [batch or 1, (axes or heads,) queries, keys]
  std::optional<bool> use_causal_mask = {};  // unset: as in the layer's options
  bool training = false;
};

/// Projects queries, keys and values for every head, applies attention (ops/sequence.hpp), and
/// joins the heads by another projection. Called with one tensor it is self-attention; that
/// tensor's mask then says which positions count as query and as key. A mask that a call does not
/// give is taken from its tensor. The result carries the query's mask, and the inputs lose theirs,
/// as in Keras 3: the sum of x and attention(x, x) has no mask. A query that may attend to no key
/// gets the mean of all values, or zeros if the layer has dropout, in training or not, inputs of
/// more than three axes, or its scores are wanted, as in Keras. Inputs of more axes attend along
/// attention_axes; the masks of steps and the causal one then need one such axis.
/// Shapes  query [batch, queries..., d], value and key [batch, keys..., ...] -> [batch, queries...,
///          output_shape]; query/kernel [d, heads, key_dim], query/bias [heads, key_dim], key and
///          value likewise, attention_output/kernel [heads, value_dim, output_shape].
/// Source  tf.keras.layers.MultiHeadAttention; Vaswani et al. 2017
class MultiHeadAttention : public Module {
 public:
  /// Throws  InvalidArgumentError for sizes below 1 or a dropout outside [0, 1).
  explicit MultiHeadAttention(MultiHeadAttentionOptions options);
  DISTRIBUTE_INLINE ~MultiHeadAttention() override;
  MultiHeadAttention(MultiHeadAttention&&) noexcept;
  MultiHeadAttention& operator=(MultiHeadAttention&&) noexcept;

  using Module::operator();
  /// Takes two tensors. It is a template so that braces are never taken for the second one.
  template <std::same_as<Tensor> T>
  Tensor operator()(const Tensor& query, const T& value, MultiHeadAttentionCall options = {}) {
    return call_with(query, value, std::move(options), nullptr);
  }
  /// Returns the result and the probabilities, from before dropout.
  /// Shapes  scores [batch, axes that do not attend, heads, queries..., keys...].
  /// Source  the argument `return_attention_scores` of Keras's call
  AttentionResult attend(const Tensor& query, const Tensor& value,
                         MultiHeadAttentionCall call = {});
  /// Returns the four products, which enable_lora() of each changes.
  LoraLayer& query_dense();
  LoraLayer& key_dense();
  LoraLayer& value_dense();
  LoraLayer& output_dense();
  /// Returns the options that the constructor got.
  const MultiHeadAttentionOptions& options() const { return options_; }

 private:
  class Projection;
  DISTRIBUTE_INLINE Tensor call(const Tensor& x, CallOptions options) override;
  DISTRIBUTE_INLINE void build_all(std::span<const Shape> inputs) override;
  std::string kind() const override { return "multi_head_attention"; }
  bool supports_masking() const override { return true; }
  Tensor call_with(const Tensor& query, const Tensor& value, MultiHeadAttentionCall options,
                   Tensor* scores);
  Tensor compute(const Tensor& query, const Tensor& value, const MultiHeadAttentionCall& options,
                 Tensor* scores);
  Tensor heads(const Tensor& q, const Tensor& k, const Tensor& v,
               const MultiHeadAttentionCall& call, Tensor* scores);
  AttentionOptions attention_options(const MultiHeadAttentionCall& call);
  Projection& part(const char* name, int64_t taken, std::vector<int64_t> given,
                   ActivationFunction activation = nullptr);

  MultiHeadAttentionOptions options_;
  uint64_t seed_;
  Pimpl<nn_internal::ReplicaCalls> calls_;
  Projection *query_, *key_, *gate_ = nullptr, *value_, *output_;
};

}  // namespace distribute::nn
