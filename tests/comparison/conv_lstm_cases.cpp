/// LSTMs of convolutions, as cell_cases.py prints them.
#include "layer_cases.hpp"

#include <distribute/nn/convolution_1d_3d.hpp>
#include <distribute/nn/reshaping.hpp>

#include <array>

namespace comparison {

namespace {

namespace regularizers = nn::regularizers;
using dist::Padding;

std::vector<Tensor> flat(const nn::RecurrentResult& result) {
  std::vector<Tensor> all{result.output};
  all.insert(all.end(), result.states.begin(), result.states.end());
  return all;
}

/// Sizes along up to three axes, as Python writes them.
struct Sizes {
  std::array<int64_t, 3> each;
  bool one = true;
  std::string text(int rank) const {
    if (one) return str_cat(each[0]);
    std::string all = str_cat("(", each[0]);
    for (size_t i = 1; i < size_t(rank); ++i) all += str_cat(", ", each[i]);
    return all + (rank == 1 ? ",)" : ")");
  }
};

template <typename Size>
Size size_of(const Sizes& sizes) {
  const auto& [a, b, c] = sizes.each;
  if constexpr (std::is_same_v<Size, nn::Size3D>)
    return {a, b, c};
  else if constexpr (std::is_same_v<Size, nn::Size2D>)
    return {a, b};
  else
    return a;
}

Sizes all_of(int64_t size) { return {{size, size, size}}; }

struct Windows {
  Sizes strides, dilation;
};

template <typename Layer, typename Size>
void window_cases(int rank, const std::string& name, const Shape& shape) {
  const std::vector<Windows> windows{{all_of(1), all_of(1)},
                                     {all_of(2), all_of(1)},
                                     {all_of(1), all_of(2)},
                                     {{{1, 2, 2}, false}, all_of(1)}};
  for (const bool same : {false, true})
    for (const Sizes& size : {all_of(1), all_of(2), Sizes{{3, 2, 2}, false}})
      for (const Windows& w : windows)
        check(str_cat(name, same ? " same" : " valid", " kernel ", size.text(rank), " strides ",
                      w.strides.text(rank), " dilation ", w.dilation.text(rank)),
              [&] {
                return Layer({.filters = 2,
                              .kernel_size = size_of<Size>(size),
                              .strides = size_of<Size>(w.strides),
                              .padding = same ? Padding::Same : Padding::Valid,
                              .dilation_rate = size_of<Size>(w.dilation)});
              },
              {shape});
}

Shape with_first(const Shape& shape, std::initializer_list<int64_t> first, int begin) {
  std::vector<int64_t> sizes(first);
  for (int i = begin; i < shape.rank(); ++i) sizes.push_back(shape[i]);
  return Shape(std::span<const int64_t>(sizes));
}

std::string python_list(const Shape& shape) {
  std::string all;
  for (const int64_t size : shape.dims()) all += str_cat(all.empty() ? "[" : ", ", size);
  return all + "]";
}

template <typename Layer, typename Size>
void rank_cases(int rank, const Shape& shape) {
  using Options = nn::ConvLSTMOptions<Size>;
  const std::string name = str_cat("conv_lstm", rank, "d");
  const auto make = [](Options options) {
    options.filters = 2;
    options.kernel_size = 2;
    return [=] { return Layer(options); };
  };
  window_cases<Layer, Size>(rank, name, shape);
  check(name + " frozen", make({}), {shape}, {.frozen = true});
  check_call(name + " states", make({}), {shape},
             [](Layer& layer, const auto& in) { return flat(layer.call_with_states(in[0])); });
  check(name + " regularized",
        make({.kernel_regularizer = regularizers::L1(0.1),
              .recurrent_regularizer = regularizers::L2(0.2),
              .bias_regularizer = regularizers::L2(0.3),
              .activity_regularizer = regularizers::L1(0.1)}),
        {shape});
  check(name + " one example", make({.return_sequences = true}), {with_first(shape, {1}, 1)});
  check(name + " one step", make({.return_sequences = true}), {with_first(shape, {2, 1}, 2)});
  check(name + " of fewer axes", make({}), {with_first(shape, {}, 1)});
  check(name + " in both directions",
        [&] { return nn::Bidirectional(make({.return_sequences = true})()); }, {shape});
  run_case(str_cat("layers/", name, " weights"), [&] {
    auto layer = make({})();
    layer(uniform(shape, 500));
    std::string line;
    for (const dist::Variable& weight : layer.variables())
      line +=
          str_cat(line.empty() ? "" : " ", weight_name(weight), " ", python_list(weight.shape()));
    return line;
  });
}

const Shape kFrames{2, 3, 5, 6, 2};

std::vector<std::pair<std::string, std::vector<Tensor>>> masks() {
  return {{"no mask", {}},
          {"gaps", {bools({2, 3}, {1, 0, 1, 0, 1, 0})}},
          {"padding", {bools({2, 3}, {1, 1, 0, 0, 0, 0})}}};
}

auto frames(nn::ConvLSTM2DOptions options) {
  options.filters = 2;
  options.kernel_size = 2;
  return [=] { return nn::ConvLSTM2D(options); };
}

void mask_grid() {
  for (const auto& [name, mask] : masks()) {
    for (const bool sequences : {false, true})
      for (const bool back : {false, true})
        for (const bool zero : {false, true})
          check(str_cat("conv_lstm2d ", name, ", sequences ", text(sequences), ", backwards ",
                        text(back), ", zero ", text(zero)),
                frames({.padding = Padding::Same,
                        .return_sequences = sequences,
                        .go_backwards = back,
                        .zero_output_for_mask = zero}),
                {kFrames}, {.masks = mask});
    check(str_cat("conv_lstm2d ", name, ", stateful"), frames({.stateful = true}), {kFrames},
          {.masks = mask, .calls = 3});
    check(str_cat("conv_lstm2d ", name, ", both"), [] { return nn::Bidirectional(frames({})()); },
          {kFrames}, {.masks = mask});
  }
}

void option_cases() {
  const std::vector<std::pair<std::string, nn::ConvLSTM2DOptions>> all{
      {"no bias", {.use_bias = false}},
      {"no forget bias", {.unit_forget_bias = false}},
      {"relu", {.activation = nn::relu}},
      {"linear", {.activation = nn::linear}},
      {"hard", {.recurrent_activation = nn::hard_sigmoid}},
      {"dropout, not training", {.dropout = 0.5, .recurrent_dropout = 0.5}}};
  for (const auto& [name, options] : all) check("conv_lstm2d " + name, frames(options), {kFrames});
  check("conv_lstm2d strides and dilation",
        [] {
          return nn::ConvLSTM2D({.filters = 2, .kernel_size = 2, .strides = 2, .dilation_rate = 2});
        },
        {kFrames});
  check("conv_lstm2d of no filters", [] { return nn::ConvLSTM2D({.kernel_size = 2}); }, {kFrames});
  check("conv_lstm2d too large", [] { return nn::ConvLSTM2D({.filters = 2, .kernel_size = 7}); },
        {kFrames});
  run_case("layers/conv_lstm2d first biases", [] {
    std::string line;
    for (const bool forget : {true, false}) {
      auto layer = frames({.unit_forget_bias = forget})();
      layer(uniform(kFrames, 500));
      line += (line.empty() ? "" : " | ") + sums("bias", layer.variables().at(2).value());
    }
    return line;
  });
}

void state_cases() {
  const auto from_states = [](nn::ConvLSTM2D& layer, const auto& in) {
    return flat(layer.call_with_states(in[0], {in[1], in[2]}));
  };
  const std::vector<LayerInput> in{kFrames, {2, 5, 6, 2}, {2, 5, 6, 2}};
  check_call("conv_lstm2d from states", frames({.padding = Padding::Same}), in, from_states,
             {.masks = masks()[1].second});
  check_call("conv_lstm2d from states of another size", frames({}), in, from_states);
  check("steps of conv_lstm1d",
        [] { return nn::TimeDistributed(nn::ConvLSTM1D({.filters = 2, .kernel_size = 2})); },
        {{2, 2, 3, 5, 2}});
}

void half_case() { check_half("conv_lstm2d, mixed_bfloat16", frames({}), kFrames); }

}  // namespace

void conv_lstm_cases() {
  rank_cases<nn::ConvLSTM1D, int64_t>(1, {2, 3, 6, 2});
  rank_cases<nn::ConvLSTM2D, nn::Size2D>(2, kFrames);
  rank_cases<nn::ConvLSTM3D, nn::Size3D>(3, {2, 2, 4, 5, 4, 2});
  mask_grid();
  option_cases();
  state_cases();
  half_case();
}

}  // namespace comparison
