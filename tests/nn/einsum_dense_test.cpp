#include <distribute/nn/dense.hpp>

#include "keras_layers.hpp"

using namespace distribute;
using namespace keras_layers;

TEST_CASE("products over several axes give Keras's values", "[nn][einsum_dense]") {
  nn::EinsumDense heads({.equation = "abc,cde->abde",
                         .output_shape = {-1, 2, 3},
                         .bias_axes = "de",
                         .activation = nn::tanh});
  check("einsum_dense", heads);
  nn::EinsumDense joined({.equation = "...bc,bcd->...d", .output_shape = {6}, .bias_axes = "d"});
  check("einsum_dense_two", joined);
}

TEST_CASE("equations that are no product of matrices are refused", "[nn][einsum_dense]") {
  const auto make = [](const char* equation) {
    return nn::EinsumDense({.equation = equation, .output_shape = {-1, 2}});
  };
  CHECK_THROWS_AS(make("abc"), InvalidArgumentError);
  CHECK_THROWS_AS(make("abc,dc->abd"), UnimplementedError);
  CHECK_THROWS_AS(make("ab,b->ab"), UnimplementedError);
  CHECK_THROWS_AS(make("abc,cd->ad"), UnimplementedError);
}

TEST_CASE("letters may come in any order", "[nn][einsum_dense]") {
  const Tensor x({1, 2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  nn::EinsumDense columns(
      {.equation = "abc,bd->adc",
       .output_shape = {1, 3},
       .bias_axes = "d",
       .kernel_initializer = nn::initializers::value(Tensor({2, 1}, std::vector<float>{1, 10})),
       .bias_initializer = nn::initializers::constant(0.5)});
  const Tensor y = columns(x);
  CHECK(y.shape() == Shape{1, 1, 3});
  CHECK(y.to_vector() == std::vector<float>{41.5f, 52.5f, 63.5f});
  CHECK(columns.bias().shape() == Shape{1, 1});
}

// Keras 3.15 takes the sizes of summed letters for the inputs of a unit, 40, and all others for the
// units, 480: its kernel has the deviation 0.062. As a convolution's kernel it had 0.019.
TEST_CASE("the first kernel scales with the connections of a product", "[nn][einsum_dense]") {
  nn::EinsumDense heads({.equation = "abc,cde->abde", .output_shape = {-1, 8, 60}});
  heads(zeros({1, 2, 40}));
  double squares = 0;
  const auto kernel = heads.kernel().value().to_vector();
  for (const float value : kernel) squares += double(value) * double(value);
  CHECK(std::sqrt(squares / double(kernel.size())) == Approx(std::sqrt(2.0 / 520)).epsilon(0.02));
}
