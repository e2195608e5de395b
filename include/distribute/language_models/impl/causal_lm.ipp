#pragma once
#include <distribute/base/error.hpp>
#include <distribute/language_models/causal_lm.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/slicing.hpp>

#include <algorithm>

namespace distribute::nn::applications {

DISTRIBUTE_INLINE Tensor KeyValueCache::positions(int64_t batch, int64_t steps) const {
  const bool same = padding_.empty();
  Tensor all = Tensor::empty({same ? 1 : batch, steps}, DType::Int32, Device{});
  int32_t* out = all.mutable_data<int32_t>();
  for (int64_t i = 0; i < all.shape()[0]; ++i)
    for (int64_t s = 0; s < steps; ++s)  // padding has position 0, which nothing sees
      *out++ = int32_t(std::max<int64_t>(0, steps_ + s - (same ? 0 : padding_[size_t(i)])));
  return all;
}

/// A step sees those of its sequence up to itself.
DISTRIBUTE_INLINE AttentionOptions KeyValueCache::masks(int64_t batch, int64_t steps) const {
  AttentionOptions masks;
  const int64_t keys = steps_ + steps;
  if (!padding_.empty()) {
    Tensor counts = Tensor::empty({batch, keys}, DType::Bool, Device{});
    bool* out = counts.mutable_data<bool>();
    for (int64_t i = 0; i < batch; ++i)
      for (int64_t k = 0; k < keys; ++k) *out++ = k >= padding_[size_t(i)];
    masks.key_mask = counts.to(current_device());
  }
  masks.is_causal = steps_ == 0;
  if (steps_ == 0 || steps == 1) return masks;
  Tensor seen = Tensor::empty({1, steps, keys}, DType::Bool, Device{});
  bool* out = seen.mutable_data<bool>();
  for (int64_t s = 0; s < steps; ++s)
    for (int64_t k = 0; k < keys; ++k) *out++ = k <= steps_ + s;
  masks.mask = seen.to(current_device());
  return masks;
}

DISTRIBUTE_INLINE AttentionStep KeyValueCache::begin(int64_t batch, int64_t steps) {
  if (!padding_.empty() && int64_t(padding_.size()) != batch)
    throw InvalidArgumentError(str_cat("KeyValueCache: it is for ", padding_.size(),
                                       " sequences, the tokens are of ", batch));
  if (steps_ > 0 && !layers_.empty() && layers_[0].keys.shape()[0] != batch)
    throw InvalidArgumentError(str_cat("KeyValueCache: it has ", layers_[0].keys.shape()[0],
                                       " sequences, the tokens are of ", batch));
  AttentionStep step{.positions = positions(batch, steps), .masks = masks(batch, steps)};
  steps_ += steps;
  return step;
}

DISTRIBUTE_INLINE KeyValues& KeyValueCache::layer(size_t number) {
  if (layers_.size() <= number) layers_.resize(number + 1);
  return layers_[number];
}

DISTRIBUTE_INLINE void CausalLM::check_length(int64_t steps) const {
  if (steps > max_sequence_length())
    throw InvalidArgumentError(str_cat("'", name(), "': ", steps,
                                       " tokens are more than its max_sequence_length, ",
                                       max_sequence_length()));
}

DISTRIBUTE_INLINE Tensor CausalLM::call(const Tensor& tokens, CallOptions options) {
  if (tokens.shape().rank() != 2 || is_floating(tokens.dtype()))
    throw InvalidArgumentError(str_cat("'", name(), "' takes integer tokens [batch, steps], got ",
                                       name_of(tokens.dtype()), " ", to_string(tokens.shape())));
  const int64_t steps = tokens.shape()[1];
  check_length(steps);
  const AttentionStep step{.positions = reshape(range(int32_t(steps)), {1, steps}),
                           .masks = {.is_causal = true, .key_mask = options.mask}};
  return logits(features(tokens, step, nullptr, options), options);
}

DISTRIBUTE_INLINE Tensor CausalLM::next_logits(const Tensor& tokens, KeyValueCache& cache) {
  if (!built())
    throw FailedPreconditionError(
        str_cat("'", name(), "' has no weights yet; call it once before"));
  const int64_t batch = tokens.shape()[0], steps = tokens.shape()[1];
  check_length(cache.steps() + steps);
  const AttentionStep step = cache.begin(batch, steps);
  const Tensor all = features(tokens, step, &cache, {});
  return squeeze(logits(slice(all, {0, steps - 1, 0}, {-1, 1, -1}), {}), {1});
}

}  // namespace distribute::nn::applications
