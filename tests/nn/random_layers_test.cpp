// Layers that draw random numbers in training, against statistics of Keras 3.15's layers.
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/random.hpp>

#include <tests/support/catch.hpp>

#include <cmath>
#include <map>

using namespace distribute;

namespace {

std::pair<double, double> mean_and_deviation(const Tensor& x) {
  double sum = 0, squares = 0;
  for (const float value : x.to_vector()) sum += value, squares += double(value) * value;
  const double mean = sum / double(x.num_elements());
  return {mean, std::sqrt(squares / double(x.num_elements()) - mean * mean)};
}

/// How often each value comes, rounded to four digits.
std::map<double, double> shares(const std::vector<float>& values) {
  std::map<double, double> found;
  for (const float value : values)
    found[std::round(double(value) * 1e4) / 1e4] += 1.0 / double(values.size());
  return found;
}

/// The output after the last step of ones, with kernels of ones and half of the state dropped.
template <typename Layer, typename Options>
std::map<double, double> shares_of_states(Options options) {
  options.units = 1;
  options.kernel_initializer = nn::initializers::ones();
  options.recurrent_initializer = nn::initializers::ones();
  options.recurrent_dropout = 0.5;
  Layer layer(options);
  return shares(layer(ones({4000, 3, 2}), {.training = true}).to_vector());
}

void check_shares(const std::map<double, double>& found, const std::map<double, double>& wanted) {
  REQUIRE(found.size() == wanted.size());
  auto other = wanted.begin();
  for (const auto& [value, share] : found) {
    CHECK(value == Approx(other->first).margin(1.5e-4));
    CHECK(share == Approx((other++)->second).margin(0.04));
  }
}

}  // namespace

TEST_CASE("GaussianDropout multiplies by numbers of mean 1", "[nn][dropout]") {
  nn::GaussianDropout layer({.rate = 0.3, .seed = 1});
  const Tensor x = ones({400, 500});
  const auto [mean, deviation] = mean_and_deviation(layer(x, {.training = true}));
  CHECK(mean == Approx(1).margin(0.01));
  CHECK(deviation == Approx(0.6547).margin(0.01));  // Keras: 0.6549
  CHECK(layer(x).to_vector() == x.to_vector());
}

TEST_CASE("AlphaDropout keeps mean and deviation", "[nn][dropout]") {
  nn::AlphaDropout layer({.rate = 0.3, .seed = 1});
  const auto [mean, deviation] =
      mean_and_deviation(layer(random::normal({400, 500}, 3), {.training = true}));
  CHECK(mean == Approx(0).margin(0.02));
  CHECK(deviation == Approx(1).margin(0.02));
  const auto found = shares(layer(ones({100, 100}), {.training = true}).to_vector());
  REQUIRE(found.size() == 2);
  CHECK(found.begin()->second == Approx(0.3).margin(0.02));
}

TEST_CASE("AlphaDropout drops by noise_shape", "[nn][dropout]") {
  nn::AlphaDropout layer({.rate = 0.5, .noise_shape = {{}, 1}});
  const std::vector<float> y = layer(ones({50, 4}), {.training = true}).to_vector();
  for (size_t i = 0; i < y.size(); ++i) CHECK(y[i] == y[i - i % 4]);
}

TEST_CASE("SpatialDropout3D drops whole channels", "[nn][dropout]") {
  nn::SpatialDropout3D layer(0.5);
  const Tensor y = layer(ones({20, 2, 3, 2, 5}), {.training = true});
  const std::vector<float> values = y.to_vector();
  for (size_t i = 0; i < values.size(); ++i) CHECK(values[i] == values[i / 60 * 60 + i % 5]);
  CHECK(shares(values).size() == 2);
}

TEST_CASE("recurrent_dropout draws a mask for each gate once per call", "[nn][recurrent]") {
  check_shares(shares_of_states<nn::SimpleRNN>(nn::SimpleRNNOptions{}),
               {{0.964, 0.5}, {0.9993, 0.5}});
  check_shares(shares_of_states<nn::GRU>(nn::GRUOptions{}),
               {{0.2614, 0.25}, {0.2639, 0.25}, {0.3053, 0.25}, {0.3088, 0.125}, {0.3089, 0.125}});
  nn::LSTM plain({.units = 2, .recurrent_dropout = 0.5});
  const Tensor x = random::normal({2, 3, 2}, 5);
  CHECK(plain(x).to_vector() == plain(x).to_vector());
}
