/// Recurrent layers and attention, as layer_cases.py prints them.
#include "layer_cases.hpp"

#include <distribute/language_models/group_query_attention.hpp>
#include <distribute/nn/attention.hpp>
#include <distribute/nn/attention_layers.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

#include <map>

namespace comparison {

namespace {

namespace regularizers = nn::regularizers;
using Masks = std::vector<Tensor>;

/// No mask, gaps, and padding, with their names.
std::vector<std::pair<std::string, Masks>> masks() {
  return {{"no mask", {}}, {"gaps", {gaps()}}, {"padding", {padding()}}};
}

template <typename Layer, typename Options>
void cell_grid(const std::string& kind) {
  for (const auto& [name, mask] : masks())
    for (const bool sequences : {false, true})
      for (const bool back : {false, true})
        for (const bool zero : {false, true})
          check(str_cat(kind, " ", name, ", sequences ", text(sequences), ", backwards ",
                        text(back), ", zero ", text(zero)),
                [&] {
                  return Layer(Options{.units = 2,
                                       .return_sequences = sequences,
                                       .go_backwards = back,
                                       .zero_output_for_mask = zero});
                },
                {steps()}, {.masks = mask});
}

template <typename Options>
Options regularized() {
  return {.units = 2,
          .kernel_regularizer = regularizers::L1(0.1),
          .recurrent_regularizer = regularizers::L2(0.2),
          .bias_regularizer = regularizers::L2(0.3)};
}

std::vector<Tensor> with_states(nn::RecurrentResult result) {
  std::vector<Tensor> all{std::move(result.output)};
  for (Tensor& state : result.states) all.push_back(std::move(state));
  return all;
}

template <typename Layer, typename Options>
void cell_cases(const std::string& kind) {
  const auto make = [](const Options& options) { return [=] { return Layer(options); }; };
  check(kind + " no bias", make({.units = 2, .use_bias = false}), {steps()});
  check(kind + " activation", make({.units = 2, .activation = nn::relu, .return_sequences = true}),
        {steps()});
  check(kind + " linear", make({.units = 2, .activation = nn::linear}), {steps()});
  check(kind + " regularized", make(regularized<Options>()), {steps()});
  check(kind + " stateful", make({.units = 2, .return_sequences = true, .stateful = true}),
        {steps()}, {.calls = 3});
  check(kind + " stateful, masked", make({.units = 2, .stateful = true}), {steps()},
        {.masks = {gaps()}, .calls = 2});
  check(kind + " stateful, backwards", make({.units = 2, .go_backwards = true, .stateful = true}),
        {steps()}, {.calls = 2});
  check(kind + " frozen", make({.units = 2}), {steps()}, {.frozen = true});
  check_call(
      kind + " states", make({.units = 2}), {steps()},
      [](Layer& layer, const auto& in) { return with_states(layer.call_with_states(in[0])); },
      {.masks = {gaps()}});
  check(kind + " dropout 0, not training", make({.units = 2}), {steps()});
  check(kind + " dropout 0.5, not training", make({.units = 2, .dropout = 0.5}), {steps()});
}

void bidirectional_grid() {
  const std::vector<std::pair<const char*, nn::MergeMode>> modes{{"concat", nn::MergeMode::Concat},
                                                                 {"sum", nn::MergeMode::Sum},
                                                                 {"mul", nn::MergeMode::Mul},
                                                                 {"ave", nn::MergeMode::Ave}};
  for (const auto& [name, mode] : modes)
    for (const bool sequences : {false, true})
      for (const auto& [mask_name, mask] : masks())
        check(str_cat("bidirectional ", name, ", sequences ", text(sequences), ", ", mask_name),
              [&, mode = mode] {
                return nn::Bidirectional(nn::LSTM({.units = 2, .return_sequences = sequences}),
                                         {.merge_mode = mode});
              },
              {steps()}, {.masks = mask});
}

void bidirectional_cases() {
  bidirectional_grid();
  check("bidirectional gru",
        [] {
          return nn::Bidirectional(nn::GRU({.units = 2, .return_sequences = true}),
                                   {.merge_mode = nn::MergeMode::Sum});
        },
        {steps()}, {.masks = {gaps()}});
  check("bidirectional zero outputs",
        [] { return nn::Bidirectional(nn::GRU({.units = 2, .zero_output_for_mask = true})); },
        {steps()}, {.masks = {gaps()}});
  check("bidirectional backwards",
        [] { return nn::Bidirectional(nn::GRU({.units = 2, .go_backwards = true})); }, {steps()});
  check("bidirectional stateful",
        [] { return nn::Bidirectional(nn::LSTM({.units = 2, .stateful = true})); }, {steps()},
        {.calls = 2});
  const auto plain = [] { return nn::Bidirectional(nn::LSTM({.units = 2})); };
  check("bidirectional frozen", plain, {steps()}, {.frozen = true});
  check("bidirectional regularized",
        [] { return nn::Bidirectional(nn::LSTM(regularized<nn::LSTMOptions>())); }, {steps()});
  check_call("bidirectional states", plain, {steps()},
             [](nn::Bidirectional& layer, const auto& in) {
               return with_states(layer.call_with_states(in[0]));
             },
             {.masks = {gaps()}});
}

void step_cases() {
  const auto norm = [] { return nn::TimeDistributed(nn::BatchNormalization({.momentum = 0.6})); };
  for (const bool training : {false, true}) {
    check("steps of batch norm " + text(training), norm, {steps()}, {.training = training});
    check("steps of batch norm " + text(training) + ", masked", norm, {steps()},
          {.masks = {gaps()}, .training = training});
  }
  check("steps of dense",
        [] { return nn::TimeDistributed(nn::Dense({.units = 2, .activation = nn::tanh})); },
        {steps()}, {.masks = {gaps()}});
  check("steps of conv",
        [] { return nn::TimeDistributed(nn::Conv2D({.filters = 2, .kernel_size = 2})); },
        {{2, 3, 4, 5, 2}});
  check("steps of lstm", [] { return nn::TimeDistributed(nn::LSTM({.units = 2})); },
        {{2, 3, 4, 5}});
  check("steps of flatten", [] { return nn::TimeDistributed(nn::Flatten()); }, {{2, 3, 4, 5}});
  check("steps of two axes", [] { return nn::TimeDistributed(nn::Dense({.units = 2})); }, {{2, 3}});
}

}  // namespace

void recurrent_cases() {
  cell_grid<nn::LSTM, nn::LSTMOptions>("lstm");
  cell_grid<nn::GRU, nn::GRUOptions>("gru");
  cell_grid<nn::SimpleRNN, nn::SimpleRNNOptions>("simple");
  cell_cases<nn::LSTM, nn::LSTMOptions>("lstm");
  cell_cases<nn::GRU, nn::GRUOptions>("gru");
  cell_cases<nn::SimpleRNN, nn::SimpleRNNOptions>("simple");
  check("lstm recurrent activation",
        [] { return nn::LSTM({.units = 2, .recurrent_activation = nn::hard_sigmoid}); }, {steps()});
  check("gru recurrent activation",
        [] { return nn::GRU({.units = 2, .recurrent_activation = nn::hard_sigmoid}); }, {steps()});
  check("gru reset before",
        [] { return nn::GRU({.units = 2, .return_sequences = true, .reset_after = false}); },
        {steps()}, {.masks = {gaps()}});
  check("gru reset before, no bias",
        [] { return nn::GRU({.units = 2, .use_bias = false, .reset_after = false}); }, {steps()});
  bidirectional_cases();
  direction_cases();
  step_cases();
}

namespace {

using Heads = nn::MultiHeadAttention;
using HeadsOptions = nn::MultiHeadAttentionOptions;
using HeadsCall = nn::MultiHeadAttentionCall;

/// The first steps of a mask.
Tensor first_steps(const Tensor& mask, int64_t count) {
  return strided_slice(mask, {dist::Range{}, dist::Range{.end = count}});
}

Tensor pair_mask(int64_t batch) {
  const Tensor x = uniform({2, 4, 5}, 5);
  return greater(x, scalar_like(x, 0)).rows(0, batch);
}

void heads_options_cases() {
  const HeadsOptions plain{.num_heads = 2, .key_dim = 3};
  const auto with = [&](auto set) {
    HeadsOptions options = plain;
    set(options);
    return options;
  };
  const std::vector<std::pair<std::string, HeadsOptions>> all{
      {"plain", plain},
      {"value_dim", with([](auto& o) { o.value_dim = 5; })},
      {"no bias", with([](auto& o) { o.use_bias = false; })},
      {"output_shape", with([](auto& o) { o.output_shape = 7; })},
      {"regularized", with([](auto& o) {
         o.kernel_regularizer = regularizers::L1L2(0.01, 0.02);
         o.bias_regularizer = regularizers::L2(0.03);
       })},
      {"dropout", with([](auto& o) { o.dropout = 0.5; })}};
  for (const auto& [name, options] : all)
    for (const auto& [mask_name, mask] : masks())
      check_call(
          str_cat("heads ", name, ", ", mask_name), [&, &o = options] { return Heads(o); },
          {steps()}, [](Heads& layer, const auto& in) { return one(layer(in[0], in[0])); },
          {.masks = mask});
  check_call(
      "heads frozen", [&] { return Heads(plain); }, {steps()},
      [](Heads& layer, const auto& in) { return one(layer(in[0], in[0])); }, {.frozen = true});
}

void heads_call_cases() {
  const std::map<std::string, std::pair<bool, HeadsCall>> calls{
      {"two", {false, {}}},
      {"three", {true, {}}},
      {"causal", {true, {.use_causal_mask = true}}},
      {"pairs", {true, {.attention_mask = pair_mask(2)}}},
      {"pairs of one", {true, {.attention_mask = pair_mask(1)}}},
      {"value mask", {true, {.value_mask = gaps()}}},
      {"key mask", {true, {.key_mask = gaps()}}},
      {"key mask without key", {false, {.key_mask = gaps()}}},
      {"all masks",
       {true,
        {.value_mask = gaps(),
         .key_mask = padding(),
         .attention_mask = pair_mask(2),
         .use_causal_mask = true}}},
      {"query mask", {false, {.query_mask = first_steps(gaps(), 4)}}}};
  const auto heads = [] { return Heads({.num_heads = 2, .key_dim = 3}); };
  for (const auto& [name, how] : calls)
    check_call("heads of " + name, heads, {{2, 4, 3}, steps(), {2, 5, 2}},
               [&, &how = how](Heads& layer, const auto& in) {
                 HeadsCall call = how.second;
                 if (how.first) call.key = in[2];
                 return one(layer(in[0], in[1], call));
               });
  const auto two = [](Heads& layer, const auto& in) { return one(layer(in[0], in[1])); };
  check_call("heads of masked query", heads, {steps(), {2, 5, 2}}, two, {.masks = {gaps()}});
  check_call("heads of masked value", heads, {steps(), {2, 5, 2}}, two,
             {.masks = {Tensor(), gaps()}});
  check_call("heads of masked key", heads, {steps(), {2, 5, 2}, {2, 5, 4}},
             [](Heads& layer, const auto& in) {
               return one(layer(in[0], in[1], HeadsCall{.key = in[2]}));
             },
             {.masks = {Tensor(), Tensor(), gaps()}});
}

template <typename Layer, typename Make>
void score_cases(const std::string& name, Make make) {
  const Shape query{2, 4, 3}, key = steps();
  check(name + " of two", make, {query, key});
  check(name + " of three", make, {query, key, key});
  check(name + " masked", make, {query, key, key},
        {.masks = {first_steps(gaps(), 4), padding(), gaps()}});
  const auto causal = [](Layer& layer, const auto& in) {
    return one(layer.attend({in[0], in[1]}, {.use_causal_mask = true}).output);
  };
  check_call(name + " causal", make, {query, key}, causal);
  check_call(name + " causal masked", make, {query, key}, causal, {.masks = {Tensor(), gaps()}});
  check_call(name + " scores", make, {query, key}, [](Layer& layer, const auto& in) {
    const nn::AttentionResult result = layer.attend({in[0], in[1]});
    return std::vector<Tensor>{result.output, result.scores};
  });
}

void group_cases() {
  using Options = nn::GroupQueryAttentionOptions;
  const Options plain{.head_dim = 4, .num_query_heads = 4, .num_key_value_heads = 2};
  Options one_head = plain, no_bias = plain, causal = plain;
  one_head.num_key_value_heads = 1;
  no_bias.use_bias = false;
  causal.use_causal_mask = true;
  const std::vector<std::pair<std::string, Options>> all{
      {"plain", plain}, {"one", one_head}, {"no bias", no_bias}, {"causal", causal}};
  for (const auto& [name, options] : all)
    check("groups " + name, [&, &o = options] { return nn::GroupQueryAttention(o); }, {steps()});
  check("groups masked", [&] { return nn::GroupQueryAttention(plain); }, {steps()},
        {.masks = {gaps()}});
}

}  // namespace

void attention_cases() {
  heads_options_cases();
  heads_call_cases();
  heads_cases();
  const auto dot = [](const nn::AttentionLayerOptions& options) {
    return [=] { return nn::Attention(options); };
  };
  const auto concat = nn::ScoreMode::Concat;
  score_cases<nn::Attention>("attention", dot({}));
  score_cases<nn::Attention>("attention scale", dot({.use_scale = true}));
  score_cases<nn::Attention>("attention concat", dot({.score_mode = concat}));
  score_cases<nn::Attention>("attention concat scale",
                             dot({.use_scale = true, .score_mode = concat}));
  score_cases<nn::Attention>("attention dropout", dot({.dropout = 0.5}));
  score_cases<nn::AdditiveAttention>("additive", [] { return nn::AdditiveAttention(); });
  score_cases<nn::AdditiveAttention>("additive no scale",
                                     [] { return nn::AdditiveAttention({.use_scale = false}); });
  group_cases();
}

}  // namespace comparison
