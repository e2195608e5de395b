/// Axes, windows, gates and scores of MultiHeadAttention, as heads_of_axes() of layer_cases.py
/// prints them.
#include "function_cases.hpp"
#include "layer_cases.hpp"

#include <distribute/nn/attention.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>

namespace comparison {

namespace {

using Heads = nn::MultiHeadAttention;
using HeadsOptions = nn::MultiHeadAttentionOptions;
using HeadsCall = nn::MultiHeadAttentionCall;

Tensor chosen(const Shape& shape, uint64_t seed, double above) {
  return uniform(shape, seed) > above;
}

auto made(HeadsOptions options) {
  options.num_heads = 2;
  options.key_dim = 3;
  return [options] { return Heads(options); };
}

auto to_itself(HeadsCall how = {}) {
  return
      [how](Heads& layer, const std::vector<Tensor>& in) { return one(layer(in[0], in[0], how)); };
}

std::vector<Tensor> with_scores(const nn::AttentionResult& result) {
  return {result.output, result.scores};
}

auto scores_of_itself(HeadsCall how = {}) {
  return [how](Heads& layer, const std::vector<Tensor>& in) {
    return with_scores(layer.attend(in[0], in[0], how));
  };
}

std::vector<Tensor> two(Heads& layer, const std::vector<Tensor>& in) {
  return one(layer(in[0], in[1]));
}

const Shape kFour{2, 3, 4, 5}, kSquare{2, 4, 4, 5};

void axes_cases() {
  const std::vector<std::pair<std::string, std::vector<int>>> all{
      {"None", {}},       {"[1]", {1}},   {"[2]", {2}},           {"[1, 2]", {1, 2}},
      {"[2, 1]", {2, 1}}, {"[-2]", {-2}}, {"[-3, -2]", {-3, -2}}, {"1", {1}}};
  for (const auto& [name, axes] : all) {
    check_call("heads of axes " + name, made({.attention_axes = axes}), {kFour}, to_itself());
    check_call("heads of axes " + name + ", scores", made({.attention_axes = axes}), {kFour},
               scores_of_itself());
  }
  for (const std::vector<int>& axes : std::vector<std::vector<int>>{{2}, {1, 3}, {3, 1}, {1, 2, 3}})
    check_call("heads of axes " + list(axes) + " of three",
               made({.value_dim = 2, .attention_axes = axes}), {{2, 3, 2, 4, 5}}, to_itself());
  const Shape other{2, 3, 6, 2};
  check_call("heads of axes of other keys", made({.attention_axes = {2}}), {kFour, other}, two);
  check_call("heads of axes of keys that do not fit", made({.attention_axes = {1}}), {kFour, other},
             two);
  for (const std::vector<int>& axes : std::vector<std::vector<int>>{{0}, {3}, {1, 1}, {4}})
    check_call("heads of axes " + list(axes) + ", wrong", made({.attention_axes = axes}), {kFour},
               to_itself());
}

void axes_mask_cases() {
  const Tensor rows = chosen({2, 3, 4}, 6, -0.5), pairs = chosen({2, 3, 4, 4}, 5, 0);
  const std::vector<std::pair<std::string, HeadsCall>> all{
      {"pairs", {.attention_mask = pairs}},
      {"shared pairs", {.attention_mask = squeeze(split(pairs, 3, 1)[0], {1})}},
      {"line", {.value_mask = chosen({2, 4}, 7, -0.5)}},
      {"pairs of heads", {.attention_mask = expand_dims(pairs, 1)}}};
  for (const auto& [name, how] : all)
    check_call("heads of axis 2, " + name, made({.attention_axes = {2}}), {kFour}, to_itself(how));
  const LayerCase masked{.masks = {rows}};
  check_call("heads of axis 2, masked", made({.attention_axes = {2}}), {kFour}, to_itself(),
             masked);
  check_call("heads of axis 1, masked", made({.attention_axes = {1}}), {kFour}, to_itself(),
             masked);
  check_call("heads of all axes, masked", made({}), {kFour}, to_itself(), masked);
  check_call("heads of all axes, pairs", made({}), {kFour},
             to_itself({.attention_mask = chosen({2, 3, 4, 3, 4}, 4, 0)}));
  const std::vector<std::pair<std::string, std::vector<int>>> axes{
      {"1", {1}}, {"2", {2}}, {"None", {}}};
  for (const auto& [name, some] : axes) {
    check_call("heads of axis " + name + ", causal", made({.attention_axes = some}), {kSquare},
               to_itself({.use_causal_mask = true}));
    check_call("heads of axis " + name + ", window",
               made({.attention_axes = some, .sliding_window = 2}), {kSquare}, to_itself());
  }
}

void window_of_heads_cases() {
  for (const int window : {1, 2, 3, 9, 0, -1}) {
    const std::string name = str_cat("heads window ", window);
    const auto make = made({.sliding_window = window});
    check_call(name, make, {steps()}, to_itself());
    check_call(name + ", causal", make, {steps()}, to_itself({.use_causal_mask = true}));
    check_call(name + ", masked", make, {steps()}, to_itself(), {.masks = {gaps()}});
    check_call(name + " of other keys", make, {{2, 4, 3}, steps()}, two);
  }
}

void gate_cases() {
  namespace regularizers = nn::regularizers;
  const std::vector<std::pair<std::string, HeadsOptions>> all{
      {"gate", {}},
      {"gate, no bias", {.use_bias = false}},
      {"gate of values", {.value_dim = 5}},
      {"gate regularized",
       {.kernel_regularizer = regularizers::L1L2(0.01, 0.02),
        .bias_regularizer = regularizers::L2(0.03),
        .activity_regularizer = regularizers::L2(0.1)}}};
  for (const auto& [name, some] : all) {
    HeadsOptions options = some;
    options.use_gate = true;
    check_call("heads " + name, made(options), {steps()}, to_itself(), {.masks = {gaps()}});
  }
}

void scores_cases() {
  const std::vector<std::pair<std::string, HeadsCall>> all{
      {"plain", {}},
      {"causal", {.use_causal_mask = true}},
      {"pairs", {.attention_mask = chosen({2, 5, 5}, 5, 0)}},
      {"pairs of heads", {.attention_mask = chosen({2, 2, 5, 5}, 5, 0)}},
      {"pairs of all", {.attention_mask = chosen({5, 5}, 5, 0)}},
      {"keys", {.attention_mask = chosen({2, 1, 5}, 5, 0)}}};
  const std::vector<std::pair<std::string, LayerCase>> masks{
      {"no mask", {}}, {"gaps", {.masks = {gaps()}}}, {"padding", {.masks = {padding()}}}};
  for (const auto& [name, how] : all)
    for (const auto& [text, masked] : masks) {
      check_call("heads scores of " + name + ", " + text, made({}), {steps()},
                 scores_of_itself(how), masked);
      check_call("heads result of " + name + ", " + text, made({}), {steps()}, to_itself(how),
                 masked);
    }
  check_call("heads scores of other keys", made({}), {{2, 4, 3}, steps()},
             [](Heads& layer, const auto& in) { return with_scores(layer.attend(in[0], in[1])); });
  check_call("heads of one axis", made({}), {{2, 3}}, to_itself());
}

}  // namespace

void heads_cases() {
  axes_cases();
  axes_mask_cases();
  window_of_heads_cases();
  gate_cases();
  scores_cases();
  check_half("heads of axes, mixed_bfloat16", made({.attention_axes = {2}}), kFour);
  check_half("heads gate, mixed_bfloat16", made({.sliding_window = 2, .use_gate = true}));
}

}  // namespace comparison
