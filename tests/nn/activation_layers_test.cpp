#include <distribute/nn/activation.hpp>

#include "keras_layers.hpp"

using namespace distribute;
using namespace keras_layers;

TEST_CASE("activations with options give Keras's values", "[nn][activation_layers]") {
  nn::ReLU relu({.max_value = 0.5, .negative_slope = 0.1, .threshold = 0.2});
  check("relu_options", relu);
  nn::LeakyReLU leaky({});
  check("leaky_relu", leaky);
  nn::PReLU learned({.shared_axes = {1}});
  check("prelu", learned);
  nn::Softmax softmax({.axis = 1});
  check("softmax", softmax);
}

TEST_CASE("a softmax leaves out what is masked", "[nn][activation_layers]") {
  nn::Softmax layer({});
  const Tensor y = layer(zeros({3, 4}), {.mask = gaps()});
  CHECK(y.to_vector() == std::vector<float>{1 / 3.f, 1 / 3.f, 0, 1 / 3.f, 0, 0.5f, 0.5f, 0, 0.25f,
                                            0.25f, 0.25f, 0.25f});
}

TEST_CASE("a softmax of nothing is 0", "[nn][activation_layers]") {
  nn::Softmax layer({});
  const Tensor y = layer(zeros({3, 4}), {.mask = padding()});
  CHECK(y.to_vector() == std::vector<float>{0.5f, 0.5f, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("activations refuse negative options", "[nn][activation_layers]") {
  CHECK_THROWS_AS(nn::PReLU({.shared_axes = {0}}), InvalidArgumentError);
  CHECK_THROWS_AS(nn::PReLU({.shared_axes = {1, -1}}), InvalidArgumentError);
  CHECK_THROWS_AS(nn::ReLU({.max_value = -1}), InvalidArgumentError);
  CHECK_THROWS_AS(nn::LeakyReLU({.negative_slope = -1}), InvalidArgumentError);
}
