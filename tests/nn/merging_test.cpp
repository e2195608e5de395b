#include <distribute/nn/merging.hpp>

#include "keras_layers.hpp"

using namespace distribute;
using namespace keras_layers;

TEST_CASE("layers of several inputs give Keras's values", "[nn][merging]") {
  const auto compare = [](const char* name, nn::MultiInputModule& layer) {
    check(name, {&layer}, [&](const auto& in) { return layer(in); });
  };
  nn::Average average;
  compare("average", average);
  nn::Subtract subtract;
  compare("subtract", subtract);
  nn::Multiply multiply;
  compare("multiply", multiply);
  nn::Maximum maximum;
  compare("maximum", maximum);
  nn::Concatenate concatenate({.axis = 1});
  compare("concatenate", concatenate);
}

TEST_CASE("layers of several inputs want several", "[nn][merging]") {
  nn::Add sum;
  CHECK(sum({Tensor{1.0f}, Tensor{2.0f}, Tensor{4.0f}}).to_vector() == std::vector<float>{7});
  CHECK_THROWS_AS(sum(Tensor{1.0f}), InvalidArgumentError);
  nn::Subtract difference;
  CHECK_THROWS_AS(difference({Tensor{1.0f}, Tensor{2.0f}, Tensor{4.0f}}), InvalidArgumentError);
  CHECK(sum.name() == "add");
}
