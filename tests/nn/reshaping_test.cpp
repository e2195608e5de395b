#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/math.hpp>

#include "keras_layers.hpp"

using namespace distribute;
using namespace keras_layers;

TEST_CASE("layers that move elements give Keras's values", "[nn][reshaping]") {
  nn::Reshape reshape({-1, 10});
  check("reshape", reshape);
  nn::Permute permute({3, 1, 2});
  check("permute", permute);
  nn::RepeatVector repeat(3);
  check("repeat_vector", repeat);
  nn::ZeroPadding2D pad({.rows = {1, 2}, .columns = {0, 3}});
  check("zero_padding", pad);
  nn::UpSampling2D larger(nn::Size2D(2, 3));
  check("up_sampling", larger);
}

TEST_CASE("layers that move elements refuse what does not fit", "[nn][reshaping]") {
  CHECK_THROWS_AS(nn::Permute({1, 3}), InvalidArgumentError);
  CHECK_THROWS_AS(nn::RepeatVector(0), InvalidArgumentError);
  nn::Reshape reshape({7});
  CHECK_THROWS_AS(reshape(zeros({2, 4})), InvalidArgumentError);
  nn::UpSampling2D larger;
  CHECK_THROWS_AS(larger(zeros({2, 4})), InvalidArgumentError);
}

TEST_CASE("a lambda is any function", "[nn][reshaping]") {
  nn::Lambda twice([](const Tensor& x) { return x * 2; });
  CHECK(twice(Tensor{1.0f, 2.0f}).to_vector() == std::vector<float>{2, 4});
}
