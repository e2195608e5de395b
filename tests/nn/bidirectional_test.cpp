#include <distribute/nn/recurrent.hpp>

#include "keras_layers.hpp"

using namespace distribute;
using namespace keras_layers;

TEST_CASE("both directions give Keras's values", "[nn][bidirectional]") {
  nn::Bidirectional concat(nn::LSTM({.units = 3, .return_sequences = true, .name = "inner"}));
  check("bidirectional", concat, {.mask = gaps()});
  nn::Bidirectional sum(nn::GRU({.units = 3, .name = "inner"}), {.merge_mode = nn::MergeMode::Sum});
  check("bidirectional_sum", sum, {.mask = gaps()});
  nn::Bidirectional mean(nn::SimpleRNN({.units = 3, .return_sequences = true, .name = "inner"}),
                         {.merge_mode = nn::MergeMode::Ave});
  check("bidirectional_plain", mean);
}

TEST_CASE("both directions have states", "[nn][bidirectional]") {
  nn::Bidirectional layer(nn::LSTM({.units = 3}));
  const auto result = layer.call_with_states(uniform({2, 4, 5}, 1));
  REQUIRE(result.states.size() == 4);
  const auto output = result.output.to_vector(), forward = result.states[0].to_vector(),
             backward = result.states[2].to_vector();
  for (size_t i = 0; i < 6; ++i) {
    CHECK(output[i / 3 * 6 + i % 3] == forward[i]);
    CHECK(output[i / 3 * 6 + 3 + i % 3] == backward[i]);
  }
}

TEST_CASE("a second layer of its own reads backwards", "[nn][recurrent]") {
  nn::Bidirectional layer(nn::LSTM({.units = 2}), nn::GRU({.units = 3, .go_backwards = true}));
  const Tensor x = ones({2, 4, 3});
  CHECK(layer(x).shape() == Shape{2, 5});
  CHECK(layer.call_with_states(x).states.size() == 3);
  CHECK_THROWS_WITH(nn::Bidirectional(nn::LSTM({.units = 2}), nn::LSTM({.units = 2})),
                    Contains("should have different `go_backwards` value"));
}

TEST_CASE("outputs of both directions may stay apart", "[nn][recurrent]") {
  nn::Bidirectional layer(nn::GRU({.units = 2, .return_sequences = true}),
                          {.merge_mode = nn::MergeMode::None});
  const Tensor x = ones({2, 4, 3});
  const auto [forward, backward] = layer.call_both(x);
  CHECK(forward.output.shape() == Shape{2, 4, 2});
  // Reversed into the order of the steps: what it gave last stands first.
  CHECK(backward.output.rows(0, 1).to_vector().at(0) ==
        backward.states.at(0).rows(0, 1).to_vector().at(0));
  CHECK_THROWS_WITH(layer(x), Contains("call_both() gives them"));
}
