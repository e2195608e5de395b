#include <distribute/nn/policy.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/ops/array.hpp>

#include "keras_layers.hpp"

using namespace distribute;
using namespace keras_layers;

TEST_CASE("an LSTM gives Keras's values", "[nn][recurrent]") {
  nn::LSTM last({.units = 3}), all({.units = 3, .return_sequences = true});
  check("lstm", last);
  check("lstm_sequences", all, {.mask = gaps()});
  nn::LSTM back({.units = 3, .return_sequences = true, .go_backwards = true});
  check("lstm_backwards", back, {.mask = gaps()});
  nn::LSTM zero(
      {.units = 3, .use_bias = false, .return_sequences = true, .zero_output_for_mask = true});
  check("lstm_zero_output", zero, {.mask = gaps()});
}

TEST_CASE("an LSTM with other functions is made of operations", "[nn][recurrent]") {
  nn::LSTM layer({.units = 3,
                  .activation = nn::relu,
                  .recurrent_activation = nn::tanh,
                  .return_sequences = true});
  check("lstm_relu", layer, {.mask = gaps()});
}

TEST_CASE("states go in and come out", "[nn][recurrent]") {
  nn::LSTM lstm({.units = 3});
  check("lstm_states", {&lstm}, [&](const auto& in) {
    const auto result = lstm.call_with_states(in[0], {in[1], in[2]}, {.mask = gaps()});
    return concat({result.output, result.states[0], result.states[1]}, -1);
  });
  nn::GRU gru({.units = 3, .use_bias = false});
  check("gru_states", {&gru}, [&](const auto& in) {
    const auto result = gru.call_with_states(in[0], {in[1]});
    return concat({result.output, result.states[0]}, -1);
  });
  CHECK_THROWS_AS(gru.call_with_states(uniform({3, 4, 5}, 1), {uniform({3, 2}, 1)}),
                  InvalidArgumentError);
}

TEST_CASE("a GRU gives Keras's values in both forms", "[nn][recurrent]") {
  nn::GRU last({.units = 3}), all({.units = 3, .return_sequences = true});
  check("gru", last);
  check("gru_sequences", all, {.mask = gaps()});
  nn::GRU before({.units = 3, .return_sequences = true, .reset_after = false});
  check("gru_reset_before", before, {.mask = gaps()});
}

TEST_CASE("a simple recurrent layer gives Keras's values", "[nn][recurrent]") {
  nn::SimpleRNN last({.units = 3});
  check("simple_rnn", last);
  nn::SimpleRNN back({.units = 3, .return_sequences = true, .go_backwards = true});
  check("simple_rnn_sequences", back, {.mask = gaps()});
}

TEST_CASE("weights of recurrent layers start as Keras's", "[nn][recurrent]") {
  nn::LSTM layer({.units = 3, .name = "memory"});
  layer(uniform({2, 4, 5}, 1));
  const auto weights = layer.variables();
  REQUIRE(weights.size() == 3);
  CHECK(weights[0].name() == "memory/lstm_cell/kernel");
  CHECK(weights[2].value().to_vector() ==
        std::vector<float>{0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0});  // the forget gate
  const auto u = weights[1].value().to_vector();                  // orthogonal rows
  for (size_t a = 0; a < 3; ++a)
    for (size_t b = 0; b < 3; ++b) {
      double product = 0;
      for (size_t k = 0; k < 12; ++k) product += double(u[a * 12 + k]) * double(u[b * 12 + k]);
      CHECK(product == Approx(a == b ? 1 : 0).margin(1e-6));
    }
}

TEST_CASE("a recurrent layer drops the same inputs at every step", "[nn][recurrent]") {
  nn::SimpleRNN layer({.units = 3, .dropout = 0.5, .return_sequences = true});
  const Tensor x = uniform({2, 4, 5}, 1);
  const auto still = layer(x).to_vector();
  CHECK(layer(x).to_vector() == still);
  CHECK(layer(x, {.training = true}).to_vector() != still);
  CHECK_THROWS_AS(nn::LSTM({.units = 0}), InvalidArgumentError);
  CHECK_THROWS_AS(layer(uniform({2, 5}, 1)), InvalidArgumentError);
}

TEST_CASE("a recurrent layer of a bfloat16 policy stays near that of float32", "[nn][recurrent]") {
  nn::GRU wide({.units = 3}), narrow({.units = 3});
  narrow.set_dtype_policy(nn::Policy("mixed_bfloat16"));
  const Tensor x = uniform({2, 6, 4}, 3);
  wide(x), narrow(x);
  for (size_t i = 0; i < 3; ++i) narrow.variables()[i].assign(wide.variables()[i].value());
  const Tensor y = narrow(x);
  CHECK(y.dtype() == DType::BFloat16);
  const auto a = y.to_vector(), b = wide(x).to_vector();
  for (size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(0.02));
}
