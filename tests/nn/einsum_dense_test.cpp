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
  CHECK_THROWS_AS(make("abc,bd->acd"), UnimplementedError);
  CHECK_THROWS_AS(make("ab,bc->ca"), UnimplementedError);
}
