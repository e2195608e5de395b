#pragma once
#include <distribute/base/error.hpp>
#include <distribute/language_models/causal_lm.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/map_fn.hpp>
#include <distribute/ops/math.hpp>
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

/// Which of the first `steps` steps are no padding.
DISTRIBUTE_INLINE Tensor KeyValueCache::counted(int64_t batch, int64_t steps) const {
  Tensor counts = Tensor::empty({batch, steps}, DType::Bool, Device{});
  bool* out = counts.mutable_data<bool>();
  for (int64_t i = 0; i < batch; ++i)
    for (int64_t k = 0; k < steps; ++k) *out++ = k >= padding_[size_t(i)];
  return counts.to(current_device());
}

/// A step sees those of its sequence up to itself.
DISTRIBUTE_INLINE AttentionOptions KeyValueCache::masks(int64_t batch, int64_t steps) {
  AttentionOptions masks;
  const int64_t keys = steps_ + steps;
  if (!padding_.empty()) {
    const int64_t all = is_gpu(current_device()) ? keys : room_;
    if (!counts_ || counts_.shape()[1] != all) counts_ = counted(batch, all);
    masks.key_mask = counts_;
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

DISTRIBUTE_INLINE Tensor KeyValueCache::within(int64_t window, int64_t steps) const {
  const int64_t keys = positions_ ? room_ : steps_;
  if (keys <= window) return {};
  const Tensor all = reshape(range(int32_t(keys)), {1, 1, keys});
  const Tensor own = positions_ ? positions_ : range(int32_t(keys - steps), int32_t(keys));
  return greater(all, reshape(own, {-1, steps, 1}) - int32_t(window));
}

DISTRIBUTE_INLINE AttentionStep KeyValueCache::begin(int64_t batch, int64_t steps) {
  if (positions_) {
    const Tensor all = reshape(range(int32_t(room_)), {1, 1, room_});
    const Tensor seen = less_equal(all, reshape(positions_, {-1, steps, 1}));
    return {.positions = positions_, .by_operations = true, .masks = {.mask = seen}};
  }
  if (!padding_.empty() && int64_t(padding_.size()) != batch)
    throw InvalidArgumentError(str_cat("KeyValueCache: it is for ", padding_.size(),
                                       " sequences, the tokens are of ", batch));
  if (steps_ > 0 && !layers_.empty() && layers_[0].keys().shape()[0] != batch)
    throw InvalidArgumentError(str_cat("KeyValueCache: it has ", layers_[0].keys().shape()[0],
                                       " sequences, the tokens are of ", batch));
  if (steps_ + steps > room_) room_ = std::max(steps_ + steps, 2 * steps_);
  AttentionStep step{.positions = positions(batch, steps), .masks = masks(batch, steps)};
  step.room = room_;
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

DISTRIBUTE_INLINE Tensor CausalLM::through_blocks(Tensor x, size_t count, AttentionStep step,
                                                  KeyValueCache* cache, bool recompute_grad,
                                                  const BlockCall& block) const {
  for (size_t i = 0; i < count; ++i) {
    step.kept = cache ? &cache->layer(i) : nullptr;
    // The second call comes after this function's end.
    const auto again = [=](const std::vector<Tensor>& in) { return block(i, in[0], step); };
    x = recompute_grad && !cache ? distribute::recompute_grad(again, {x}) : block(i, x, step);
  }
  return x;
}

namespace language_models_internal {

/// The place of each step within its document, for the documents' numbers [batch, steps].
DISTRIBUTE_INLINE Tensor places_in_documents(const Tensor& documents) {
  const Tensor numbers = cast(documents.to(Device{}), DType::Int64);
  const int64_t batch = numbers.shape()[0], steps = numbers.shape()[1];
  Tensor places = Tensor::empty({batch, steps}, DType::Int32, Device{});
  const int64_t* in = numbers.data<int64_t>().data();
  int32_t* out = places.mutable_data<int32_t>();
  for (int64_t i = 0; i < batch * steps; ++i)
    out[i] = i % steps > 0 && in[i] == in[i - 1] ? out[i - 1] + 1 : 0;
  return places;
}

/// Steps of one document see each other.
DISTRIBUTE_INLINE AttentionStep step_of_documents(const Tensor& documents) {
  return {.positions = places_in_documents(documents),
          .masks = {.is_causal = true,
                    .mask = equal(expand_dims(documents, 2), expand_dims(documents, 1))}};
}

}  // namespace language_models_internal

DISTRIBUTE_INLINE Tensor CausalLM::call(const Tensor& tokens, CallOptions options) {
  const Shape& shape = tokens.shape();
  const bool packed = shape.rank() == 3 && shape[1] == 2;
  if ((shape.rank() != 2 && !packed) || is_floating(tokens.dtype()))
    throw InvalidArgumentError(str_cat("'", name(), "' takes integer tokens [batch, steps] or ",
                                       "tokens and documents [batch, 2, steps], got ",
                                       name_of(tokens.dtype()), " ", to_string(shape)));
  const int64_t steps = shape[-1];
  check_length(steps);
  if (packed) {
    const std::vector<Tensor> both = unstack(tokens, 1);
    const AttentionStep step = language_models_internal::step_of_documents(both[1]);
    return logits(features(both[0], step, nullptr, options), options);
  }
  const AttentionStep step{.positions = reshape(range(int32_t(steps)), {1, steps}),
                           .masks = {.is_causal = true, .key_mask = options.mask}};
  return logits(features(tokens, step, nullptr, options), options);
}

DISTRIBUTE_INLINE Tensor CausalLM::features_behind(const Tensor& tokens, KeyValueCache& cache) {
  if (!built())
    throw FailedPreconditionError(
        str_cat("'", name(), "' has no weights yet; call it once before"));
  const int64_t batch = tokens.shape()[0], steps = tokens.shape()[1];
  check_length(cache.steps() + steps);
  const AttentionStep step = cache.begin(batch, steps);
  return features(tokens, step, &cache, {});
}

DISTRIBUTE_INLINE Tensor CausalLM::next_logits(const Tensor& tokens, KeyValueCache& cache) {
  const Tensor all = features_behind(tokens, cache);
  return squeeze(logits(slice(all, {0, tokens.shape()[1] - 1, 0}, {-1, 1, -1}), {}), {1});
}

DISTRIBUTE_INLINE Tensor CausalLM::all_logits(const Tensor& tokens, KeyValueCache& cache) {
  return logits(features_behind(tokens, cache), {});
}

namespace language_models_internal {

DISTRIBUTE_INLINE std::string layer_key(const char* front, size_t layer, const char* part) {
  return str_cat(front, ".", layer, ".", part);
}

DISTRIBUTE_INLINE std::map<std::string, Tensor> call_cached(
    CausalLM& model, size_t layers, const std::map<std::string, Tensor>& inputs) {
  const Tensor tokens = inputs.at("input_ids"), before = inputs.at("past_length");
  const int64_t steps = tokens.shape()[1];
  const Tensor positions = before + reshape(range(int32_t(steps)), {1, steps});
  std::vector<KeyValues> kept;
  for (size_t i = 0; i < layers; ++i)
    kept.emplace_back(inputs.at(layer_key("past_key_values", i, "key")),
                      inputs.at(layer_key("past_key_values", i, "value")), positions);
  KeyValueCache cache(std::move(kept), positions);
  std::map<std::string, Tensor> outputs{{"logits", model.all_logits(tokens, cache)}};
  for (size_t i = 0; i < layers; ++i) {
    outputs[layer_key("present", i, "key")] = cast(cache.layer(i).keys(), DType::Float32);
    outputs[layer_key("present", i, "value")] = cast(cache.layer(i).values(), DType::Float32);
  }
  return outputs;
}

}  // namespace language_models_internal

DISTRIBUTE_INLINE CachedStep cached_step(CausalLM& model, int64_t steps, int64_t room) {
  using namespace language_models_internal;
  if (steps < 1 || room < steps || room > model.max_sequence_length())
    throw InvalidArgumentError(str_cat("cached_step: ", steps, " steps with room for ", room,
                                       "; wanted 1 <= steps <= room <= max_sequence_length, ",
                                       model.max_sequence_length()));
  KeyValueCache probe;
  model.next_logits(zeros({1, 1}, DType::Int32), probe);
  const size_t layers = probe.num_layers();
  CachedStep step;
  step.inputs["input_ids"] = {{-1, steps}, DType::Int32};
  step.inputs["past_length"] = {{-1, 1}, DType::Int32};
  for (size_t i = 0; i < layers; ++i) {
    const Shape& shape = probe.layer(i).keys().shape();
    for (const char* part : {"key", "value"})
      step.inputs[layer_key("past_key_values", i, part)] = {{-1, room, shape[2], shape[3]},
                                                            DType::Float32};
  }
  step.function = [&model, layers](const std::map<std::string, Tensor>& inputs) {
    return call_cached(model, layers, inputs);
  };
  return step;
}

}  // namespace distribute::nn::applications
