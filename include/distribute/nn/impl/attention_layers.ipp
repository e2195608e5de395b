#pragma once
#include <distribute/nn/attention_layers.hpp>
#include <distribute/nn/detail/replica_calls.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/random.hpp>
#include <distribute/ops/reduce.hpp>

#include <utility>

namespace distribute::nn {

DISTRIBUTE_INLINE AttentionLayer::AttentionLayer(const char* layer, double dropout,
                                                 bool use_causal_mask, std::optional<uint64_t> seed,
                                                 std::string name)
    : MultiInputModule(std::move(name)),
      layer_(layer),
      dropout_(dropout),
      use_causal_mask_(use_causal_mask),
      seed_(seed.value_or(0)),
      calls_(new nn_internal::ReplicaCalls()) {
  if (!(dropout >= 0 && dropout < 1))
    throw InvalidArgumentError(str_cat(layer, ": dropout must be in [0, 1), got ", dropout));
  if (dropout > 0 && !seed) seed_ = random::next_seed();
}

DISTRIBUTE_INLINE AttentionLayer::~AttentionLayer() = default;
DISTRIBUTE_INLINE AttentionLayer::AttentionLayer(AttentionLayer&&) noexcept = default;
DISTRIBUTE_INLINE AttentionLayer& AttentionLayer::operator=(AttentionLayer&&) noexcept = default;

DISTRIBUTE_INLINE void AttentionLayer::check_count(size_t count) const {
  if (count == 2 || count == 3) return;
  throw InvalidArgumentError(
      str_cat(layer_, " layer accepts inputs list of length 2 or 3, namely [query, value] or ",
              "[query, value, key]. Received length: ", count, "."));
}

namespace nn_internal {

/// bool [1, queries, keys]: true for keys that are not later than the query.
DISTRIBUTE_INLINE Tensor causal_mask(int64_t queries, int64_t keys, Device device) {
  const Tensor rows = reshape(range(queries), {1, queries, 1}), columns = range(keys);
  return greater_equal(rows, reshape(columns, {1, 1, keys})).to(device);
}

/// Makes masked scores so small that their probability is 0.
DISTRIBUTE_INLINE Tensor leave_out(const Tensor& scores, const Tensor& mask) {
  if (!mask) return scores;
  const double most = scores.dtype() == DType::Float16 ? 65504.0 : 1e9;
  return scores - cast(logical_not(mask), scores.dtype()) * float(most);
}

}  // namespace nn_internal

DISTRIBUTE_INLINE AttentionResult AttentionLayer::compute(std::span<const Tensor> inputs,
                                                          const AttentionCall& call) {
  check_count(inputs.size());
  const Tensor &query = inputs[0], &value = inputs[1], &key = inputs.back();
  Tensor mask = call.value_mask ? expand_dims(call.value_mask, 1) : Tensor();
  if (call.use_causal_mask.value_or(use_causal_mask_)) {
    const Tensor causal =
        nn_internal::causal_mask(query.shape()[1], key.shape()[1], query.device());
    mask = mask ? logical_and(mask, causal) : causal;
  }
  const Tensor probabilities = softmax(nn_internal::leave_out(scores(query, key), mask));
  Tensor weights = probabilities;
  if (call.training && dropout_ > 0) {
    const nn_internal::CallSeed drawn = calls_->next(seed_);
    weights = dropout(weights, float(dropout_), drawn.seed, drawn.counter);
  }
  Tensor output = matmul(weights, value);
  if (call.query_mask) output = output * cast(expand_dims(call.query_mask, -1), output.dtype());
  return {output, weights};
}

DISTRIBUTE_INLINE Tensor AttentionLayer::call_all(std::span<const Tensor> inputs,
                                                  CallOptions options) {
  check_count(inputs.size());
  return compute(inputs, {.query_mask = get_keras_mask(inputs[0]),
                          .value_mask = get_keras_mask(inputs[1]),
                          .training = options.training})
      .output;
}

DISTRIBUTE_INLINE Tensor AttentionLayer::compute_mask(std::span<const Tensor> inputs) const {
  return get_keras_mask(inputs[0]);
}

DISTRIBUTE_INLINE AttentionResult AttentionLayer::attend(const std::vector<Tensor>& inputs,
                                                         AttentionCall call) {
  check_count(inputs.size());
  if (!call.query_mask) call.query_mask = get_keras_mask(inputs[0]);
  if (!call.value_mask) call.value_mask = get_keras_mask(inputs[1]);
  AttentionResult result;
  enter(inputs, [&] {
    std::vector<Tensor> fitting;
    for (const Tensor& x : inputs) fitting.push_back(autocast(x));
    result = compute(fitting, call);
    result.output = nn_internal::with_mask(result.output, call.query_mask, inputs[0]);
    return result.output;
  });
  return result;
}

namespace nn_internal {

/// tanh(factor (query + key)) of each query and each key: [batch, queries, keys, d].
DISTRIBUTE_INLINE Tensor tanh_of_sums(const Tensor& query, const Tensor& key,
                                      const Tensor& factor = {}) {
  const Tensor sums = expand_dims(query, 2) + expand_dims(key, 1);
  return tanh(factor ? sums * factor : sums);
}

}  // namespace nn_internal

DISTRIBUTE_INLINE Attention::Attention(AttentionLayerOptions options)
    : AttentionLayer("Attention", options.dropout, options.use_causal_mask, options.seed,
                     options.name),
      options_(std::move(options)) {}

DISTRIBUTE_INLINE void Attention::build(const Shape&) {
  if (options_.use_scale) scale_ = add_weight("scale", {}, initializers::ones());
  if (options_.score_mode == ScoreMode::Concat)
    concat_score_weight_ = add_weight("concat_score_weight", {}, initializers::ones());
}

DISTRIBUTE_INLINE Tensor Attention::scores(const Tensor& query, const Tensor& key) const {
  const Tensor scale = scale_ ? cast(scale_.value(), query.dtype()) : Tensor();
  if (options_.score_mode == ScoreMode::Concat)
    return reduce_sum(nn_internal::tanh_of_sums(query, key, scale), {-1}) *
           cast(concat_score_weight_.value(), query.dtype());
  const Tensor products = matmul(query, key, {.transpose_b = true});
  return scale ? products * scale : products;
}

DISTRIBUTE_INLINE AdditiveAttention::AdditiveAttention(AdditiveAttentionOptions options)
    : AttentionLayer("AdditiveAttention", options.dropout, options.use_causal_mask, options.seed,
                     options.name),
      options_(std::move(options)) {}

DISTRIBUTE_INLINE void AdditiveAttention::build(const Shape& query) {
  if (options_.use_scale) scale_ = add_weight("scale", {query[-1]}, initializers::glorot_uniform());
}

DISTRIBUTE_INLINE Tensor AdditiveAttention::scores(const Tensor& query, const Tensor& key) const {
  const Tensor sums = nn_internal::tanh_of_sums(query, key);
  return reduce_sum(scale_ ? sums * cast(scale_.value(), sums.dtype()) : sums, {-1});
}

}  // namespace distribute::nn
