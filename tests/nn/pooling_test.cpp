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
