#include <distribute/nn/initializers.hpp>

#include "support/catch.hpp"

using namespace distribute;
namespace init = nn::initializers;

namespace {
struct Spread {
  double mean = 0, deviation = 0, largest = 0;
};
Spread spread_of(const Tensor& x) {
  Spread s;
  const auto values = x.to_vector();
  for (const float v : values) {
    s.mean += v / double(values.size());
    s.largest = std::max(s.largest, double(std::abs(v)));
  }
  for (const float v : values) s.deviation += (v - s.mean) * (v - s.mean);
  s.deviation = std::sqrt(s.deviation / double(values.size()));
  return s;
}
}  // namespace

TEST_CASE("fans count the receptive field as Keras does", "[nn][initializers]") {
  const auto check = [](const Shape& shape, double in, double out) {
    const auto fans = init::compute_fans(shape);
    CHECK(fans.in == in);
    CHECK(fans.out == out);
  };
  check({}, 1, 1);
  check({7}, 7, 7);
  check({20, 30}, 20, 30);
  check({3, 5, 4, 8}, 60, 120);
}

TEST_CASE("a matrix in several axes has its own fans", "[nn][initializers]") {
  const auto fans = init::compute_fans({40, 8, 60}, 1);
  CHECK(fans.in == 40);
  CHECK(fans.out == 480);
  const auto largest = [](const nn::Initializer& initializer) {
    double most = 0;
    for (const float value : initializer({40, 8, 60}, 3).to_vector())
      most = std::max(most, std::abs(double(value)));
    return most;
  };
  const auto scaled = init::he_uniform();
  CHECK(largest(scaled) == Approx(std::sqrt(6.0 / 320)).epsilon(0.01));
  CHECK(largest(scaled.of_matrix(1)) == Approx(std::sqrt(6.0 / 40)).epsilon(0.01));
  CHECK(largest(scaled.of_matrix(1).of_matrix(2)) == largest(scaled.of_matrix(1)));
  CHECK(largest(init::random_uniform().of_matrix(1)) == largest(init::random_uniform()));
}

TEST_CASE("constants fill the shape", "[nn][initializers]") {
  CHECK(init::zeros()({2}, 0).to_vector() == std::vector<float>{0, 0});
  CHECK(init::ones()({2}, 0).to_vector() == std::vector<float>{1, 1});
  CHECK(init::constant(0.1f)({1}, 0).to_vector() == std::vector<float>{0.1f});
  CHECK(init::value(Tensor{3.0f})({1}, 0).to_vector() == std::vector<float>{3});
  CHECK_THROWS_AS(init::value(Tensor{3.0f})({2}, 0), InvalidArgumentError);
}

TEST_CASE("scaled initializers have Keras's spread", "[nn][initializers]") {
  const Shape shape{200, 400};
  const auto check = [&](const nn::Initializer& initializer, double deviation, double largest) {
    const Spread s = spread_of(initializer(shape, 17));
    CHECK(s.mean == Approx(0).margin(deviation * 0.02));
    CHECK(s.deviation == Approx(deviation).epsilon(0.02));
    CHECK(s.largest <= largest * 1.0001);
    CHECK(s.largest >= largest * 0.98);
  };
  const double glorot = std::sqrt(1.0 / 300), he = std::sqrt(2.0 / 200);
  const double lecun = std::sqrt(1.0 / 200), cut = 2 / .87962566103423978;
  check(init::glorot_uniform(), glorot, glorot * std::sqrt(3));
  check(init::glorot_normal(), glorot, glorot * cut);
  check(init::he_uniform(), he, he * std::sqrt(3));
  check(init::he_normal(), he, he * cut);
  check(init::lecun_uniform(), lecun, lecun * std::sqrt(3));
  check(init::lecun_normal(), lecun, lecun * cut);
  check(init::random_uniform(), 0.05 / std::sqrt(3), 0.05);
  check(init::truncated_normal(), 0.05 * .87962566103423978, 0.1);
}

TEST_CASE("the same seed gives the same value", "[nn][initializers]") {
  const Shape shape{10};
  CHECK(init::glorot_uniform()(shape, 1).to_vector() ==
        init::glorot_uniform()(shape, 1).to_vector());
  CHECK(init::glorot_uniform()(shape, 1).to_vector() !=
        init::glorot_uniform()(shape, 2).to_vector());
  CHECK(init::he_normal(9)(shape, 1).to_vector() == init::he_normal(9)(shape, 2).to_vector());
  CHECK(init::random_normal(5, 0)(shape, 1).to_vector()[3] == 5.0f);
}
