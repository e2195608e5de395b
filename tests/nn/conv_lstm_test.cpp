#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/convolution_1d_3d.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>

#include <tests/support/gradient_check.hpp>
#include <tests/support/hashed_numbers.hpp>
#include "support/catch.hpp"
#include "support/check_close.hpp"
#include "support/check_throws.hpp"

using namespace distribute;
using distribute::testing::hashed_numbers;

namespace {

void set_weights(nn::Module& module) {
  uint64_t seed = 10;
  for (const Variable& weight : module.variables())
    weight.assign(hashed_numbers(weight.shape(), ++seed));
}

Tensor step(const Tensor& x, int64_t t) {
  return squeeze(strided_slice(x, {Range{}, Range{t, t + 1}}), {1});
}

/// Checks gradients with respect to inputs and states, and along a direction of the weights.
void check_all_gradients(nn::RNN& layer, const Tensor& x) {
  layer(x);
  set_weights(layer);
  const std::vector<Tensor> first = layer.cell().get_initial_state(step(x, 0));
  check_gradients(
      [&](const std::vector<Tensor>& in) {
        const nn::RecurrentResult result = layer.call_with_states(in[0], {in[1], in[2]});
        return std::vector<Tensor>{result.output, result.states[0], result.states[1]};
      },
      {x, hashed_numbers(first[0].shape(), 3), hashed_numbers(first[1].shape(), 4)});
  const std::vector<Variable> weights = layer.variables();
  GradientTape tape;
  const std::vector<Tensor> slopes = tape.gradient(reduce_sum(square(layer(x))), weights);
  for (size_t i = 0; i < weights.size(); ++i) {
    INFO(weights[i].name());
    const Tensor value = weights[i].value(), along = hashed_numbers(value.shape(), 99);
    const auto at = [&](float t) {
      weights[i].assign(value + along * t);
      return double(reduce_sum(square(layer(x))).item<float>());
    };
    const double wanted = (at(0.01f) - at(-0.01f)) / 0.02;
    weights[i].assign(value);
    CHECK(double(reduce_sum(slopes[i] * along).item<float>()) ==
          Approx(wanted).epsilon(0.01).margin(1e-2));
  }
}

}  // namespace

TEST_CASE("LSTMs of convolutions have the gradients of all their inputs", "[nn][conv_lstm]") {
  nn::ConvLSTM1D line({.filters = 2, .kernel_size = 2, .dilation_rate = 2});
  nn::ConvLSTM2D plane({.filters = 2,
                        .kernel_size = {2, 1},
                        .strides = {1, 2},
                        .padding = Padding::Same,
                        .return_sequences = true});
  nn::ConvLSTM3D volume({.filters = 1, .kernel_size = {1, 2, 2}, .go_backwards = true});
  check_all_gradients(line, hashed_numbers({2, 2, 4, 2}, 1));
  check_all_gradients(plane, hashed_numbers({1, 2, 3, 4, 2}, 1));
  check_all_gradients(volume, hashed_numbers({1, 2, 2, 2, 3, 1}, 1));
}

TEST_CASE("an LSTM of convolutions over one point is an LSTM", "[nn][conv_lstm]") {
  nn::LSTM lstm({.units = 3, .return_sequences = true});
  nn::ConvLSTM2D convolutions({.filters = 3, .kernel_size = 1, .return_sequences = true});
  const Tensor x = hashed_numbers({2, 4, 5}, 1), points = reshape(x, {2, 4, 1, 1, 5});
  lstm(x), convolutions(points);
  set_weights(lstm);
  for (size_t i = 0; i < 3; ++i) {
    const Variable to = convolutions.variables()[i];
    to.assign(reshape(lstm.variables()[i].value(), to.shape()));
  }
  const auto wanted = lstm(x).to_vector();
  check_close(convolutions(points), {wanted.begin(), wanted.end()});
}

TEST_CASE("an LSTM of convolutions drops the same inputs at every step", "[nn][conv_lstm]") {
  nn::ConvLSTM1D layer({.filters = 3, .kernel_size = 2, .dropout = 0.5, .recurrent_dropout = 0.5});
  const Tensor x = hashed_numbers({2, 3, 5, 4}, 1);
  const auto still = layer(x).to_vector();
  CHECK(layer(x).to_vector() == still);
  CHECK(layer(x, {.training = true}).to_vector() != still);
  // Without a forget gate and a state in the products, all steps with equal inputs are equal.
  nn::ConvLSTM1D alike({.filters = 2,
                        .kernel_size = 2,
                        .recurrent_initializer = nn::initializers::zeros(),
                        .bias_initializer = nn::initializers::value(
                            Tensor(Shape{8}, std::vector<float>{0, 0, -99, -99, 0, 0, 0, 0})),
                        .unit_forget_bias = false,
                        .dropout = 0.5,
                        .return_sequences = true});
  const Tensor y = alike(fill({1, 3, 5, 2}, 1.0), {.training = true});
  const auto first = step(y, 0).to_vector();
  check_close(step(y, 2), {first.begin(), first.end()});
}

TEST_CASE("options of LSTMs of convolutions are checked", "[nn][conv_lstm]") {
  using Options = nn::ConvLSTM2DOptions;
  const auto refused = [](const Options& options, const std::string& part) {
    check_throws<InvalidArgumentError>([&] { nn::ConvLSTM2D layer(options); }, part);
  };
  refused({}, "ConvLSTM2D: filters must be at least 1, got 0");
  refused({.filters = 1, .padding = Padding::Explicit}, "ConvLSTM2D");
  refused({.filters = 1, .strides = {1, 2}, .dilation_rate = {2, 1}}, "strides above 1");
  refused({.filters = 1, .kernel_size = {0, 1}}, "at least 1");
  refused({.filters = 1, .dropout = 1.5}, "1.5");
  nn::ConvLSTM2D layer({.filters = 1, .kernel_size = 3});
  CHECK_THROWS_SAYING(layer(fill({1, 2, 4, 3}, 0.0)), InvalidArgumentError,
                      "ConvLSTM2D takes [batch, steps, sizes..., channels]");
  CHECK_THROWS_AS(layer(fill({1, 2, 2, 2, 1}, 0.0)), InvalidArgumentError);
  layer(fill({1, 2, 4, 4, 1}, 0.0));
  CHECK_THROWS_AS(layer.call_with_states(fill({1, 2, 4, 4, 1}, 0.0), {fill({1, 2, 2, 1}, 0.0)}),
                  InvalidArgumentError);
}
