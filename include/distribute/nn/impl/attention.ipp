#pragma once
#include <distribute/nn/attention.hpp>
#include <distribute/nn/detail/attention_axes.hpp>
#include <distribute/nn/detail/replica_calls.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/detail/attention_blocks.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/ops/sequence.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

namespace distribute::nn {

/// A product over the last axes of its input, whose result has several axes in their place.
class MultiHeadAttention::Projection : public LoraLayer {
 public:
  /// The input's last `taken` axes become `given`; -1: known when it is built.
  Projection(const MultiHeadAttentionOptions& options, int64_t taken, std::vector<int64_t> given,
             ActivationFunction activation)
      : LoraLayer({}),
        options_(options),
        taken_(taken),
        given_(std::move(given)),
        activation_(activation) {
    set_activity_regularizer(options_.activity_regularizer);
  }
  void set_units(int64_t units) { given_.back() = units; }

 private:
  Tensor call(const Tensor& x, CallOptions) override {
    const int kept = x.shape().rank() - int(taken_);
    const int64_t inputs = product(x.shape().dims().subspan(size_t(kept)));
    Shape flat(x.shape().dims().first(size_t(kept))), result = flat;
    flat.push_back(inputs);
    for (const int64_t size : given_) result.push_back(size);
    const int64_t units = product(given_);
    const Tensor bias = bias_ ? reshape(bias_.value(), {units}) : Tensor();
    const Tensor y = reshape(
        dense(reshape(x, flat), reshape(with_lora(kernel_), {inputs, units}), bias), result);
    return activation_ ? activation_(y) : y;
  }
  void build(const Shape& input) override {
    Shape kernel(input.dims().last(size_t(taken_)));
    for (const int64_t size : given_) kernel.push_back(size);
    kernel_ = add_weight("kernel", kernel, options_.kernel_initializer.of_matrix(int(taken_)),
                         nn_internal::constrained(options_.kernel_constraint));
    if (options_.use_bias)
      bias_ = add_weight("bias", Shape(given_), options_.bias_initializer,
                         nn_internal::constrained(options_.bias_constraint));
  }
  std::vector<Tensor> own_losses() const override {
    return penalties(options_.kernel_regularizer, kernel_, options_.bias_regularizer, bias_);
  }
  LoraTarget lora_target() const override {
    return {"kernel", kernel_, bool(options_.kernel_constraint)};
  }
  std::string kind() const override { return "einsum_dense"; }
  static int64_t product(std::span<const int64_t> sizes) { return Shape(sizes).num_elements(); }

  MultiHeadAttentionOptions options_;
  int64_t taken_;
  std::vector<int64_t> given_;
  ActivationFunction activation_;
  Variable kernel_, bias_;
};

DISTRIBUTE_INLINE MultiHeadAttention::Projection& MultiHeadAttention::part(
    const char* name, int64_t taken, std::vector<int64_t> given, ActivationFunction activation) {
  return add(name, Projection(options_, taken, std::move(given), activation));
}

DISTRIBUTE_INLINE MultiHeadAttention::MultiHeadAttention(MultiHeadAttentionOptions options)
    : Module(options.name),
      options_(std::move(options)),
      seed_(options_.seed.value_or(0)),
      calls_(new nn_internal::ReplicaCalls()) {
  const auto check = [](const char* what, int64_t value) {
    if (value < 1)
      throw InvalidArgumentError(str_cat("Received an invalid value for argument `", what,
                                         "`, expected a positive integer. Received: ", what, "=",
                                         value));
  };
  check("num_heads", options_.num_heads);
  check("key_dim", options_.key_dim);
  check("value_dim", options_.value_dim.value_or(1));
  check("output_shape", options_.output_shape.value_or(1));
  check("sliding_window", options_.sliding_window.value_or(1));
  if (!(options_.dropout >= 0 && options_.dropout < 1))
    throw InvalidArgumentError(
        str_cat("MultiHeadAttention: dropout must be in [0, 1), got ", options_.dropout));
  if (options_.dropout > 0 && !options_.seed) seed_ = random::next_seed();
  const int64_t heads = options_.num_heads, width = options_.value_dim.value_or(options_.key_dim);
  query_ = &part("query", 1, {heads, options_.key_dim});
  key_ = &part("key", 1, {heads, options_.key_dim});
  if (options_.use_gate) gate_ = &part("gate", 1, {heads, width}, sigmoid);
  value_ = &part("value", 1, {heads, width});
  output_ = &part("attention_output", 2, {options_.output_shape.value_or(-1)});
}

DISTRIBUTE_INLINE LoraLayer& MultiHeadAttention::query_dense() { return *query_; }
DISTRIBUTE_INLINE LoraLayer& MultiHeadAttention::key_dense() { return *key_; }
DISTRIBUTE_INLINE LoraLayer& MultiHeadAttention::value_dense() { return *value_; }
DISTRIBUTE_INLINE LoraLayer& MultiHeadAttention::output_dense() { return *output_; }

DISTRIBUTE_INLINE MultiHeadAttention::~MultiHeadAttention() = default;
DISTRIBUTE_INLINE MultiHeadAttention::MultiHeadAttention(MultiHeadAttention&&) noexcept = default;
DISTRIBUTE_INLINE MultiHeadAttention& MultiHeadAttention::operator=(MultiHeadAttention&&) noexcept =
    default;

/// Builds for query, value and key; an input that is not given is the one before it.
DISTRIBUTE_INLINE void MultiHeadAttention::build_all(std::span<const Shape> inputs) {
  const Shape &query = inputs.front(), &value = inputs[inputs.size() > 1 ? 1 : 0];
  const Shape& key = inputs.back();
  for (const Shape& shape : inputs)
    if (shape.rank() < 3 || shape.rank() != query.rank())
      throw InvalidArgumentError(str_cat("MultiHeadAttention '", name(),
                                         "' takes [batch, steps..., features], got ",
                                         to_string(shape)));
  if (value.with(-1, 1) != key.with(-1, 1).with(0, value[0]))
    throw InvalidArgumentError(
        str_cat("All dimensions of `value` and `key`, except the last one, "
                "must be equal. Received: value_shape=",
                to_string(value), " and key_shape=", to_string(key)));
  nn_internal::AttentionAxes(options_.attention_axes, query.rank());
  output_->set_units(options_.output_shape.value_or(query[-1]));
  query_->ensure_built(query);
  key_->ensure_built(key);
  if (gate_) gate_->ensure_built(query);
  value_->ensure_built(value);
  Shape heads = query.with(-1, options_.num_heads);
  heads.push_back(options_.value_dim.value_or(options_.key_dim));
  output_->ensure_built(heads);
}

namespace nn_internal {

/// Removes the masks of the inputs, which attention has applied. Source
/// keras.layers.MultiHeadAttention.call, which calls set_keras_mask(query, None)
DISTRIBUTE_INLINE void take_masks(std::initializer_list<Tensor> inputs) {
  for (Tensor x : inputs)
    if (get_keras_mask(x)) TensorHints::of(x).mask = {};
}

}  // namespace nn_internal

/// How the heads attend, without the masks of steps.
DISTRIBUTE_INLINE AttentionOptions
MultiHeadAttention::attention_options(const MultiHeadAttentionCall& call) {
  AttentionOptions how{.zeros_without_keys = options_.dropout > 0};
  if (call.training && options_.dropout > 0) {
    const nn_internal::CallSeed seed = calls_->next(seed_);
    how.dropout = options_.dropout;
    how.seed = seed.seed;
    how.counter = seed.counter;
  }
  return how;
}

namespace nn_internal {

/// Whether each query has one mask of keys for all heads, as dot_product_attention() takes it.
DISTRIBUTE_INLINE bool is_plain(const Tensor& q, const Tensor& k, const Tensor& mask) {
  if (q.shape().rank() != 4 || !mask) return q.shape().rank() == 4;
  const Shape &a = q.shape(), &b = k.shape();
  return mask.shape() == Shape{a[0], a[1], b[1]} || mask.shape() == Shape{1, a[1], b[1]};
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Tensor MultiHeadAttention::heads(const Tensor& q, const Tensor& k,
                                                   const Tensor& v,
                                                   const MultiHeadAttentionCall& call,
                                                   Tensor* scores) {
  AttentionOptions how = attention_options(call);
  const bool is_causal = call.use_causal_mask.value_or(options_.use_causal_mask);
  if (!scores && nn_internal::is_plain(q, k, call.attention_mask)) {
    how.is_causal = is_causal;
    how.query_mask = call.query_mask;
    how.key_mask = nn_internal::both(call.value_mask, call.key_mask);
    how.mask = call.attention_mask;
    if (options_.sliding_window)
      how.mask = nn_internal::both(
          how.mask,
          nn_internal::near_mask(q.shape()[1], k.shape()[1], *options_.sliding_window, q.device()));
    return dot_product_attention(q, k, v, how);
  }
  const nn_internal::AttentionAxes axes(options_.attention_axes, q.shape().rank() - 1);
  how.zeros_without_keys |= scores || q.shape().rank() > 4;
  how.mask = axes.folded_mask({call.query_mask, nn_internal::both(call.value_mask, call.key_mask),
                               call.attention_mask, is_causal, options_.sliding_window},
                              q, k);
  const Tensor queries = axes.folded(q), keys = axes.folded(k), values = axes.folded(v);
  if (!scores) return axes.unfolded(dot_product_attention(queries, keys, values, how), q.shape());
  const Tensor all = ops_internal::attention_probabilities(queries, keys, how,
                                                           1 / std::sqrt(double(options_.key_dim)));
  *scores = axes.unfolded_scores(all, q.shape(), k.shape());
  return axes.unfolded(ops_internal::weighted_values(all, values, how), q.shape());
}

DISTRIBUTE_INLINE Tensor MultiHeadAttention::compute(const Tensor& query, const Tensor& value,
                                                     const MultiHeadAttentionCall& call,
                                                     Tensor* scores) {
  nn_internal::take_masks({query, value, call.key});
  const Tensor q = (*query_)(query), k = (*key_)(call.key ? call.key : value);
  const Tensor all = heads(q, k, (*value_)(value), call, scores);
  return (*output_)(gate_ ? all * (*gate_)(query) : all);
}

DISTRIBUTE_INLINE Tensor MultiHeadAttention::call_with(const Tensor& query, const Tensor& value,
                                                       MultiHeadAttentionCall options,
                                                       Tensor* scores) {
  std::vector<Tensor> inputs{query, value};
  if (options.key) inputs.push_back(options.key);
  if (!options.query_mask) options.query_mask = get_keras_mask(query);
  if (!options.value_mask) options.value_mask = get_keras_mask(value);
  if (!options.key_mask) options.key_mask = get_keras_mask(options.key);
  return enter(inputs, [&] {
    if (options.key) options.key = autocast(options.key);
    return nn_internal::with_mask(compute(autocast(query), autocast(value), options, scores),
                                  options.query_mask, query);
  });
}

DISTRIBUTE_INLINE AttentionResult MultiHeadAttention::attend(const Tensor& query,
                                                             const Tensor& value,
                                                             MultiHeadAttentionCall call) {
  AttentionResult result;
  result.output = call_with(query, value, std::move(call), &result.scores);
  return result;
}

DISTRIBUTE_INLINE Tensor MultiHeadAttention::call(const Tensor& x, CallOptions options) {
  return compute(
      x, x, {.query_mask = options.mask, .value_mask = options.mask, .training = options.training},
      nullptr);
}

}  // namespace distribute::nn
