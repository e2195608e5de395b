#pragma once
#include <distribute/nn/attention.hpp>
#include <distribute/nn/detail/replica_calls.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/ops/sequence.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

namespace distribute::nn {

/// A product over the last axes of its input, whose result has several axes in their place.
class MultiHeadAttention::Projection : public LoraLayer {
 public:
  /// The input's last `taken` axes become `given`; -1: known when it is built.
  Projection(const MultiHeadAttentionOptions& options, int64_t taken, std::vector<int64_t> given)
      : LoraLayer({}), options_(options), taken_(taken), given_(std::move(given)) {
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
    return reshape(dense(reshape(x, flat), reshape(with_lora(kernel_), {inputs, units}), bias),
                   result);
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
  Variable kernel_, bias_;
};

DISTRIBUTE_INLINE MultiHeadAttention::Projection& MultiHeadAttention::part(
    const char* name, int64_t taken, std::vector<int64_t> given) {
  return add(name, Projection(options_, taken, std::move(given)));
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
  if (!(options_.dropout >= 0 && options_.dropout < 1))
    throw InvalidArgumentError(
        str_cat("MultiHeadAttention: dropout must be in [0, 1), got ", options_.dropout));
  if (options_.dropout > 0 && !options_.seed) seed_ = random::next_seed();
  const int64_t heads = options_.num_heads, width = options_.value_dim.value_or(options_.key_dim);
  query_ = &part("query", 1, {heads, options_.key_dim});
  key_ = &part("key", 1, {heads, options_.key_dim});
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
    if (shape.rank() != 3)
      throw InvalidArgumentError(str_cat("MultiHeadAttention '", name(),
                                         "' takes [batch, steps, features], got ",
                                         to_string(shape)));
  if (value[1] != key[1])
    throw InvalidArgumentError(
        str_cat("All dimensions of `value` and `key`, except the last one, "
                "must be equal. Received: value_shape=",
                to_string(value), " and key_shape=", to_string(key)));
  output_->set_units(options_.output_shape.value_or(query[-1]));
  const int64_t heads = options_.num_heads, width = options_.value_dim.value_or(options_.key_dim);
  query_->ensure_built(query);
  key_->ensure_built(key);
  value_->ensure_built(value);
  output_->ensure_built({query[0], query[1], heads, width});
}

namespace nn_internal {

/// Removes the masks of the inputs, which attention has applied. Source
/// keras.layers.MultiHeadAttention.call, which calls set_keras_mask(query, None)
DISTRIBUTE_INLINE void take_masks(std::initializer_list<Tensor> inputs) {
  for (Tensor x : inputs)
    if (get_keras_mask(x)) TensorHints::of(x).mask = {};
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Tensor MultiHeadAttention::attend(const Tensor& query, const Tensor& value,
                                                    const MultiHeadAttentionCall& options) {
  nn_internal::take_masks({query, value, options.key});
  const Tensor q = (*query_)(query), k = (*key_)(options.key ? options.key : value);
  AttentionOptions attention{
      .is_causal = options.use_causal_mask.value_or(options_.use_causal_mask),
      .query_mask = options.query_mask,
      .key_mask = options.value_mask,
      .mask = options.attention_mask,
      .zeros_without_keys = options_.dropout > 0};
  if (options.key_mask)
    attention.key_mask =
        attention.key_mask ? logical_and(attention.key_mask, options.key_mask) : options.key_mask;
  if (options.training && options_.dropout > 0) {
    const nn_internal::CallSeed call = calls_->next(seed_);
    attention.dropout = options_.dropout;
    attention.seed = call.seed;
    attention.counter = call.counter;
  }
  return (*output_)(dot_product_attention(q, k, (*value_)(value), attention));
}

DISTRIBUTE_INLINE Tensor MultiHeadAttention::call_with(const Tensor& query, const Tensor& value,
                                                       MultiHeadAttentionCall options) {
  std::vector<Tensor> inputs{query, value};
  if (options.key) inputs.push_back(options.key);
  if (!options.query_mask) options.query_mask = get_keras_mask(query);
  if (!options.value_mask) options.value_mask = get_keras_mask(value);
  if (!options.key_mask) options.key_mask = get_keras_mask(options.key);
  return enter(inputs, [&] {
    if (options.key) options.key = autocast(options.key);
    return nn_internal::with_mask(attend(autocast(query), autocast(value), options),
                                  options.query_mask, query);
  });
}

DISTRIBUTE_INLINE Tensor MultiHeadAttention::call(const Tensor& x, CallOptions options) {
  return attend(
      x, x, {.query_mask = options.mask, .value_mask = options.mask, .training = options.training});
}

}  // namespace distribute::nn
