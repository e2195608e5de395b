#include <distribute/nn/dense.hpp>
#include <distribute/ops/activation.hpp>

#include "golden_support.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("a dense layer gives Keras's values and gradients", "[nn][dense]") {
  nn::Dense layer({.units = 3, .activation = nn::tanh});
  check_golden(
      layer, {5, 20},
      {{5, 3}, -3.08163762, -0.989052892, 3.61636925, {59.2498283, 72.9787292, 1.46378851}});
}

TEST_CASE("a dense layer with fused relu works on the last axis", "[nn][dense]") {
  nn::Dense layer({.units = 3, .activation = nn::relu});
  check_golden(layer, {2, 5, 10}, {{2, 5, 3}, 0, 8.0625, 6.3828125, {38.328125, 81.6875, 10}});
}

TEST_CASE("a dense layer may lack its bias and carries Keras names", "[nn][dense]") {
  nn::Dense layer({.units = 4, .use_bias = false, .name = "fc1"});
  layer(ones({2, 3}));
  REQUIRE(layer.variables().size() == 1);
  CHECK(layer.kernel().name() == "fc1/kernel");
  CHECK(layer.kernel().shape() == Shape{3, 4});
  CHECK_FALSE(layer.bias());
}

TEST_CASE("a dense layer takes two axes or more", "[nn][dense]") {
  nn::Dense layer({.units = 4, .name = "fc1"});
  const std::string wanted =
      "Input 0 of layer 'fc1' is incompatible with the layer: expected min_ndim=2, found ndim=1. "
      "Full shape received: [3]";
  CHECK_THROWS_WITH(layer(ones({3})), StartsWith(wanted));
  CHECK(layer(ones({1, 3})).shape() == Shape{1, 4});
  CHECK_THROWS_WITH(layer(ones({3})), StartsWith(wanted));
}

TEST_CASE("a dense layer without units is refused", "[nn][dense]") {
  CHECK_THROWS_AS(nn::Dense({}), InvalidArgumentError);
}

TEST_CASE("regularized kernels give a penalty with a gradient", "[nn][dense]") {
  nn::Dense layer({.units = 2, .kernel_regularizer = nn::regularizers::l2(0.5f), .name = "d"});
  CHECK(layer.losses().empty());
  layer.ensure_built({1, 2});
  layer.kernel().assign(Tensor({2, 2}, std::vector<float>{1, -2, 3, 0}));
  GradientTape tape;
  const auto terms = layer.losses();
  REQUIRE(terms.size() == 1);
  CHECK(terms[0].item<float>() == 7.0f);
  CHECK(tape.gradient(terms[0], layer.kernel()).to_vector() == std::vector<float>{1, -2, 3, 0});
}
