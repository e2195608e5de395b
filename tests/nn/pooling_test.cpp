#include <distribute/nn/pooling.hpp>

#include "golden_support.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("pooling layers give Keras's values and gradients", "[nn][pooling]") {
  nn::MaxPool2D max({.pool_size = 3, .strides = 2, .padding = Padding::Same});
  check_golden(max, {2, 5, 5, 2}, {{2, 3, 3, 2}, -0.5, 24.5, 17.125, {68}});
  nn::AveragePooling2D average({.padding = Padding::Same});
  check_golden(average, {2, 5, 5, 2}, {{2, 3, 3, 2}, -0.125, -0.9375, 3.23046875, {33.75}});
}

TEST_CASE("global pooling layers give Keras's values and gradients", "[nn][pooling]") {
  nn::GlobalAveragePooling2D average;
  check_golden(average, {2, 5, 5, 2}, {{2, 2}, 0.04, -0.05, 0.0019, {0.24}});
  nn::GlobalMaxPooling2D max({.keepdims = true});
  check_golden(max, {2, 5, 5, 2}, {{2, 1, 1, 2}, -1.5, 3, 2.25, {1.58333337}});
  CHECK_THROWS_AS(average(ones({2, 3})), InvalidArgumentError);
}

TEST_CASE("windows step by their own size unless told otherwise", "[nn][pooling]") {
  nn::MaxPool2D pool;
  CHECK(pool(ones({1, 28, 28, 3})).shape() == Shape{1, 14, 14, 3});
  nn::MaxPool2D wide({.pool_size = {1, 4}});
  CHECK(wide(ones({1, 8, 8, 1})).shape() == Shape{1, 8, 2, 1});
}

TEST_CASE("pooling over steps gives Keras's values", "[nn][pooling]") {
  std::vector<float> values(20);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(float(i));
  const Tensor x(Shape{2, 5, 2}, values);
  const nn::Pool1DLayerOptions options{.pool_size = 3, .strides = 2, .padding = Padding::Same};
  const auto compare = [&](nn::Module& layer, const std::vector<double>& wanted) {
    const Tensor y = layer(x);
    REQUIRE(y.shape() == Shape{2, 3, 2});
    for (size_t i = 0; i < wanted.size(); ++i)
      CHECK(double(y.to_vector()[i]) == Approx(wanted[i]).margin(2e-6));
  };
  nn::MaxPooling1D max(options);
  compare(max, {0.909297, 0.841471, 0.909297, 0.656987, 0.989358, 0.656987, -0.536573, 0.420167,
                0.990607, 0.650288, -0.287903, 0.149877});
  nn::AveragePooling1D average(options);
  compare(average, {0.454649, 0.491296, -0.0423069, -0.0536059, 0.354971, 0.534553, -0.540297,
                    -0.289912, 0.055377, 0.0363525, -0.519445, -0.40576});
  nn::MaxPooling1D pairs;
  CHECK(pairs(x).shape() == Shape{2, 2, 2});
  CHECK(pairs.name() == "max_pooling1d_1");
  CHECK_THROWS_AS(pairs(ones({2, 3})), InvalidArgumentError);
}
