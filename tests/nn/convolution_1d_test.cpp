#include <distribute/nn/convolution.hpp>

#include "keras_layers.hpp"

using namespace distribute;
using namespace keras_layers;

TEST_CASE("convolutions of sequences give Keras's values", "[nn][convolution_1d]") {
  nn::Conv1D same({.filters = 4,
                   .kernel_size = 3,
                   .strides = 2,
                   .padding = nn::Padding1D::Same,
                   .activation = nn::relu});
  check("conv1d", same);
  nn::Conv1D causal(
      {.filters = 4, .kernel_size = 2, .padding = nn::Padding1D::Causal, .dilation_rate = 2});
  check("conv1d_causal", causal);
  nn::Conv1D valid({.filters = 4, .kernel_size = 3, .use_bias = false});
  check("conv1d_valid", valid);
}

TEST_CASE("separable convolutions give Keras's values", "[nn][convolution_1d]") {
  nn::SeparableConv2D layer(
      {.filters = 4, .kernel_size = 3, .padding = Padding::Same, .depth_multiplier = 2});
  check("separable", layer);
}

TEST_CASE("convolutions of sequences refuse what does not fit", "[nn][convolution_1d]") {
  CHECK_THROWS_AS(nn::Conv1D({.filters = 3, .groups = 2}), InvalidArgumentError);
  nn::Conv1D layer({.filters = 2});
  CHECK_THROWS_AS(layer(zeros({2, 4})), InvalidArgumentError);
}
