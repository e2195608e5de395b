#include <distribute/nn/convolution.hpp>
#include <distribute/ops/activation.hpp>

#include "golden_support.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("a strided convolution with fused relu gives Keras's values", "[nn][convolution]") {
  nn::Conv2D layer({.filters = 4,
                    .kernel_size = 3,
                    .strides = 2,
                    .padding = Padding::Same,
                    .activation = nn::relu});
  check_golden(layer, {2, 5, 5, 2},
               {{2, 3, 3, 4}, 1.15625, 23.8125, 26.9277344, {72.84375, 96.875, 93}});
  CHECK(layer.kernel().name() == "conv2d/kernel");
  CHECK(layer.bias().shape() == Shape{4});
}

TEST_CASE("a dilated convolution without bias gives Keras's values", "[nn][convolution]") {
  nn::Conv2D layer(
      {.filters = 4, .kernel_size = {2, 3}, .dilation_rate = {2, 1}, .use_bias = false});
  check_golden(layer, {2, 5, 5, 2},
               {{2, 3, 3, 4}, -12.71875, -0.9375, 30.9824219, {508.03125, 751.5625}});
}

TEST_CASE("a grouped convolution gives Keras's values", "[nn][convolution]") {
  nn::Conv2D layer({.filters = 4, .kernel_size = 3, .groups = 2});
  check_golden(layer, {2, 5, 5, 2},
               {{2, 3, 3, 4}, -4.5, -15.53125, 42.0146484, {203.671875, 539.5, 11}});
}

TEST_CASE("a depthwise convolution gives Keras's values", "[nn][convolution]") {
  nn::DepthwiseConv2D layer({.kernel_size = 3, .padding = Padding::Same, .depth_multiplier = 2});
  check_golden(layer, {2, 5, 5, 2},
               {{2, 5, 5, 4}, -7.84375, -43.5, 97.3574219, {283.4375, 233.125, 0}});
}

TEST_CASE("convolution layers refuse options and inputs that do not fit", "[nn][convolution]") {
  CHECK_THROWS_AS(nn::Conv2D({}), InvalidArgumentError);
  CHECK_THROWS_AS(nn::Conv2D({.filters = 3, .groups = 2}), InvalidArgumentError);
  CHECK_THROWS_AS(nn::DepthwiseConv2D({.depth_multiplier = 0}), InvalidArgumentError);
  nn::Conv2D layer({.filters = 4, .groups = 2});
  CHECK_THROWS_AS(layer(ones({2, 5, 5})), InvalidArgumentError);
  CHECK_THROWS_AS(layer(ones({2, 5, 5, 3})), InvalidArgumentError);
  CHECK(layer(ones({2, 5, 5, 4})).shape() == Shape{2, 5, 5, 4});
}
