#include <distribute/nn/dropout.hpp>
#include <distribute/ops/random.hpp>

#include "support/catch.hpp"
#include "two_replicas.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("dropout drops the asked share and keeps the mean", "[nn][dropout]") {
  nn::Dropout layer({.rate = 0.25f, .seed = 3});
  const Tensor x = ones({10000});
  CHECK(layer(x).to_vector() == x.to_vector());
  const auto y = layer(x, {.training = true}).to_vector();
  int64_t dropped = 0;
  for (const float v : y) {
    CHECK((v == 0.0f || v == Approx(1 / 0.75)));
    dropped += v == 0.0f;
  }
  CHECK(dropped == Approx(2500).margin(150));
}

TEST_CASE("every call drops other elements, the same in the next run", "[nn][dropout]") {
  const Tensor x = ones({64});
  nn::Dropout a({.seed = 7}), b({.seed = 7}), c({.seed = 8});
  const auto first = a(x, {.training = true}).to_vector();
  const auto second = a(x, {.training = true}).to_vector();
  CHECK(first != second);
  CHECK(first == b(x, {.training = true}).to_vector());
  CHECK(second == b(x, {.training = true}).to_vector());
  CHECK(first != c(x, {.training = true}).to_vector());
}

TEST_CASE("layers without a seed follow the program's", "[nn][dropout]") {
  const Tensor x = ones({64});
  random::set_seed(5);
  nn::Dropout a(0.5f), b(0.5f);
  random::set_seed(5);
  nn::Dropout again(0.5f);
  const auto first = a(x, {.training = true}).to_vector();
  CHECK(first == again(x, {.training = true}).to_vector());
  CHECK(first != b(x, {.training = true}).to_vector());
}

TEST_CASE("replicas drop different elements", "[nn][dropout]") {
  nn::Dropout layer({.seed = 7});
  std::vector<float> y[2];
  run_two_replicas([&](int replica) { y[replica] = layer(ones({64}), {true}).to_vector(); });
  CHECK(y[0] != y[1]);
}

TEST_CASE("rates 0 and 1 drop nothing and everything", "[nn][dropout]") {
  const Tensor x = ones({3});
  CHECK(nn::Dropout(0.0f)(x, {true}).to_vector() == std::vector<float>{1, 1, 1});
  CHECK(nn::Dropout(1.0f)(x, {true}).to_vector() == std::vector<float>{0, 0, 0});
  CHECK_THROWS_AS(nn::Dropout(1.5f), InvalidArgumentError);
}
