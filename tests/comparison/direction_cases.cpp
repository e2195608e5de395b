/// Unrolled layers, and layers of two directions, as two_directions() of layer_cases.py prints
/// them.
#include "layer_cases.hpp"

#include <distribute/nn/recurrent.hpp>

namespace comparison {

namespace {

namespace regularizers = nn::regularizers;
using Masks = std::vector<Tensor>;
using nn::Bidirectional;
using nn::MergeMode;

std::vector<std::pair<std::string, Masks>> masks() {
  return {{"no mask", {}}, {"gaps", {gaps()}}, {"padding", {padding()}}};
}

std::vector<Tensor> with_states(const nn::RecurrentResult& result) {
  std::vector<Tensor> all{result.output};
  all.insert(all.end(), result.states.begin(), result.states.end());
  return all;
}

std::vector<Tensor> all_of(Bidirectional& layer, const std::vector<Tensor>& in) {
  return with_states(layer.call_with_states(in[0], {in.begin() + 1, in.end()}));
}

std::vector<Tensor> apart(Bidirectional& layer, const std::vector<Tensor>& in) {
  const auto [forward, backward] = layer.call_both(in[0]);
  return {forward.output, backward.output};
}

std::vector<Tensor> apart_with_states(Bidirectional& layer, const std::vector<Tensor>& in) {
  const auto [forward, backward] = layer.call_both(in[0], {in.begin() + 1, in.end()});
  std::vector<Tensor> all{forward.output, backward.output};
  all.insert(all.end(), forward.states.begin(), forward.states.end());
  all.insert(all.end(), backward.states.begin(), backward.states.end());
  return all;
}

template <typename Layer, typename Options>
void kind_cases(const std::string& kind) {
  for (const auto& [name, mask] : masks()) {
    check(kind + " unrolled, " + name,
          [] { return Layer(Options{.units = 2, .return_sequences = true, .unroll = true}); },
          {steps()}, {.masks = mask});
    for (const bool sequences : {false, true}) {
      const std::string how = ", sequences " + text(sequences) + ", " + name;
      const auto both = [=] {
        return Bidirectional(nn::LSTM({.units = 2, .return_sequences = sequences}),
                             Layer(Options{.units = 3,
                                           .activation = "relu",
                                           .return_sequences = sequences,
                                           .go_backwards = true}));
      };
      check("bidirectional lstm and " + kind + how, both, {steps()}, {.masks = mask});
      check_call("bidirectional lstm and " + kind + how + ", states", both, {steps()}, all_of,
                 {.masks = mask});
      const auto split = [=] {
        return Bidirectional(Layer(Options{.units = 2, .return_sequences = sequences}),
                             {.merge_mode = MergeMode::None});
      };
      check_call("bidirectional " + kind + " apart" + how, split, {steps()}, apart,
                 {.masks = mask});
      check_call("bidirectional " + kind + " apart" + how + ", states", split, {steps()},
                 apart_with_states, {.masks = mask});
    }
  }
}

void mode_cases() {
  const std::vector<std::pair<std::string, MergeMode>> modes{{"sum", MergeMode::Sum},
                                                             {"mul", MergeMode::Mul},
                                                             {"ave", MergeMode::Ave},
                                                             {"concat", MergeMode::Concat}};
  for (const auto& [name, mode] : modes) {
    const auto two = [mode = mode](int64_t units) {
      return [=] {
        return Bidirectional(nn::LSTM({.units = 2}),
                             nn::GRU({.units = units, .go_backwards = true}), {.merge_mode = mode});
      };
    };
    check("bidirectional of two, " + name, two(2), {steps()});
    check("bidirectional of two sizes, " + name, two(3), {steps()});
    check("bidirectional of sizes 2 and 1, " + name, two(1), {steps()});
    check_call(
        "bidirectional from states, " + name,
        [mode = mode] { return Bidirectional(nn::LSTM({.units = 2}), {.merge_mode = mode}); },
        {steps(), {2, 2}, {2, 2}, {2, 2}, {2, 2}}, all_of);
  }
}

void pair_cases() {
  const auto pair = [](const nn::LSTMOptions& a, const nn::LSTMOptions& b) {
    return [=] { return Bidirectional(nn::LSTM(a), nn::LSTM(b)); };
  };
  const nn::LSTMOptions plain{.units = 2}, back{.units = 2, .go_backwards = true};
  check("bidirectional turned",
        pair({.units = 2, .return_sequences = true, .go_backwards = true},
             {.units = 2, .return_sequences = true}),
        {steps()}, {.masks = {gaps()}});
  check("bidirectional of two, frozen", pair(plain, back), {steps()}, {.frozen = true});
  check("bidirectional of two, stateful",
        [] {
          return Bidirectional(nn::LSTM({.units = 2, .stateful = true}),
                               nn::GRU({.units = 2, .go_backwards = true, .stateful = true}));
        },
        {steps()}, {.calls = 2});
  check("bidirectional of two, regularized",
        pair({.units = 2, .kernel_regularizer = regularizers::L1(0.1)},
             {.units = 2, .bias_regularizer = regularizers::L2(0.3), .go_backwards = true}),
        {steps()});
  check("bidirectional of two forwards", pair(plain, plain), {steps()});
  check("bidirectional of two, sequences of one",
        pair({.units = 2, .return_sequences = true}, back), {steps()});
  check("bidirectional of two, one stateful", pair({.units = 2, .stateful = true}, back),
        {steps()});
}

}  // namespace

void direction_cases() {
  kind_cases<nn::LSTM, nn::LSTMOptions>("lstm");
  kind_cases<nn::GRU, nn::GRUOptions>("gru");
  kind_cases<nn::SimpleRNN, nn::SimpleRNNOptions>("simple");
  mode_cases();
  pair_cases();
  check_half("bidirectional of two, mixed_bfloat16", [] {
    return Bidirectional(nn::LSTM({.units = 2}), nn::GRU({.units = 2, .go_backwards = true}));
  });
  check_call(
      "bidirectional apart from states",
      [] { return Bidirectional(nn::GRU({.units = 2}), {.merge_mode = MergeMode::None}); },
      {steps(), {2, 2}, {2, 2}}, apart_with_states);
  check_call(
      "bidirectional of lstm and gru from states",
      [] {
        return Bidirectional(nn::LSTM({.units = 2}), nn::GRU({.units = 2, .go_backwards = true}));
      },
      {steps(), {2, 2}, {2, 2}, {2, 2}}, all_of);
}

}  // namespace comparison
