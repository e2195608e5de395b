#include <distribute/nn/convolution.hpp>

#include "keras_layers.hpp"

using namespace distribute;
using namespace keras_layers;

TEST_CASE("transposed convolutions give Keras's values", "[nn][convolution_transpose]") {
  nn::Conv2DTranspose same(
      {.filters = 2, .kernel_size = {3, 2}, .strides = 2, .padding = Padding::Same});
  check("transpose_same", same);
  nn::Conv2DTranspose valid(
      {.filters = 2, .kernel_size = 4, .strides = {2, 1}, .activation = nn::tanh});
  check("transpose_valid", valid);
  nn::Conv2DTranspose gaps({.filters = 2, .kernel_size = 1, .strides = {3, 2}, .use_bias = false});
  check("transpose_gaps", gaps);
}

TEST_CASE("a transposed convolution refuses what it cannot do", "[nn][convolution_transpose]") {
  CHECK_THROWS_AS(nn::Conv2DTranspose({.filters = 0}), InvalidArgumentError);
  nn::Conv2DTranspose layer({.filters = 2, .kernel_size = 3, .padding = Padding::Explicit});
  CHECK_THROWS_AS(layer(zeros({1, 4, 4, 3})), UnimplementedError);
}
