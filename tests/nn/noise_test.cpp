#include <distribute/nn/dropout.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include "support/catch.hpp"

using namespace distribute;

TEST_CASE("noise is added while training alone", "[nn][noise]") {
  nn::GaussianNoise layer({.stddev = 0.5, .seed = 3});
  const Tensor x = ones_like(zeros({100, 100}));
  CHECK(layer(x).to_vector() == x.to_vector());
  const Tensor y = layer(x, {.training = true});
  CHECK(reduce_mean(y).item<float>() == Approx(1).margin(0.02));
  CHECK(reduce_std(y).item<float>() == Approx(0.5).margin(0.02));
  CHECK(layer(x, {.training = true}).to_vector() != y.to_vector());
  CHECK_THROWS_AS(nn::GaussianNoise(1.5), InvalidArgumentError);
}

TEST_CASE("whole channels are dropped", "[nn][noise]") {
  nn::SpatialDropout1D layer({.rate = 0.5, .seed = 3});
  const Tensor x = ones_like(zeros({4, 3, 50}));
  CHECK(layer(x).to_vector() == x.to_vector());
  const auto y = layer(x, {.training = true}).to_vector();
  int64_t dropped = 0;
  for (size_t b = 0; b < 4; ++b)
    for (size_t c = 0; c < 50; ++c) {
      const float first = y[b * 150 + c];
      dropped += first == 0;
      CHECK((first == 0 || first == 2));
      for (size_t t = 1; t < 3; ++t) CHECK(y[b * 150 + t * 50 + c] == first);
    }
  CHECK(dropped > 60);
  CHECK(dropped < 140);
  CHECK_THROWS_AS(nn::SpatialDropout1D({.rate = 0.5, .noise_shape = {1}}), InvalidArgumentError);
  nn::SpatialDropout2D images(0.5);
  CHECK_THROWS_AS(images(x), InvalidArgumentError);
}
