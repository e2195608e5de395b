#include <distribute/base/error.hpp>
#include <distribute/nn/regression_losses.hpp>

#include "loss_support.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("relative and logarithmic errors follow Keras", "[nn][regression_losses]") {
  check_loss(
      [](const Tensor& y, const Tensor& p) { return nn::mean_absolute_percentage_error(y, p); },
      kNumbers, kLogits, {77.777771, 33333722, 366.666687},
      {33.3333321, 16.666666, -11.1111107, 333333312, -66.6666641, -133.333328, -8.33333302,
       16.666666, 333.333313});
  check_loss(
      [](const Tensor& y, const Tensor& p) { return nn::mean_squared_logarithmic_error(y, p); },
      kNumbers, kLogits, {0.375476003, 0.0196256787, 1.0695473},
      {0.0901033729, 0, -0.435924143, 0.0577636845, -0.123968616, 0, 0, 0.0681100786, 0.199278995});
}

TEST_CASE("the Huber loss follows Keras", "[nn][regression_losses]") {
  check_loss([](const Tensor& y, const Tensor& p) { return nn::huber(y, p); }, kNumbers, kLogits,
             {1, 0.766666651, 1.80166662},
             {0.333333343, 0.333333343, -0.333333343, 0.0333333351, -0.100000009, -0.333333343,
              -0.333333343, 0.333333343, 0.300000012});
  check_loss([](const Tensor& y, const Tensor& p) { return nn::huber(y, p, 0.5); }, kNumbers,
             kLogits, {0.625, 0.433333308, 1.02499998},
             {0.166666672, 0.166666672, -0.166666672, 0.0333333351, -0.100000009, -0.166666672,
              -0.166666672, 0.166666672, 0.166666672});
}

TEST_CASE("the logarithm of cosh follows Keras", "[nn][regression_losses]") {
  check_loss([](const Tensor& y, const Tensor& p) { return nn::log_cosh(y, p); }, kNumbers, kLogits,
             {0.893709898, 0.703421175, 1.66400719},
             {0.253864706, 0.253864706, -0.328871459, 0.0332227051, -0.0971042216, -0.330619901,
              -0.333109766, 0.321342528, 0.238765955});
}

TEST_CASE("cosine similarity follows Keras along both axes", "[nn][regression_losses]") {
  check_loss([](const Tensor& y, const Tensor& p) { return nn::cosine_similarity(y, p); }, kNumbers,
             kLogits, {-0.641533017, -0.505440056, -0.439174414},
             {0.127751142, 0.11108797, -0.288828701, 0.00558497291, -0.286147714, -0.0188903511,
              -0.216876253, -0.00510296226, 0.0204118844});
  check_loss([](const Tensor& y, const Tensor& p) { return nn::cosine_similarity(y, p, 0); },
             kNumbers, kLogits, {-0.242233038, -0.851843119, -0.243692651},
             {-0.000302031636, 0.118691012, -0.299209535, 0.00604072446, -0.0321722925,
              -0.0453999341, -0.484466076, 0.0312813669, 0.0134049933});
}

TEST_CASE("targets without the last axis of one get it", "[nn][regression_losses]") {
  const auto loss = [](const Tensor& y, const Tensor& p) { return nn::mean_squared_error(y, p); };
  const Tensor y{1.0f, 2.0f, 3.0f}, p{1.5f, 2.0f, 5.0f};
  check_loss(loss, y, Tensor({3, 1}, p.to_vector()), {0.25, 0, 4}, {1, 0, 4});
  check_loss(loss, Tensor({3, 1}, y.to_vector()), p, {0.25, 0, 4}, {1, 0, 4});
  check_loss(loss, kNumbers, Tensor({3, 3, 1}, kLogits.to_vector()), {2.75, 2.55416656, 6.93666649},
             {0.666666687, 0.666666687, -1.66666675, 0.0666666701, -0.200000018, -1.83333337,
              -2.66666675, 1.33333337, 0.600000024});
}

TEST_CASE("shapes that do not fit are an error", "[nn][regression_losses]") {
  CHECK_THROWS_AS(nn::mean_squared_error(kNumbers, Tensor{1.0f, 2.0f}), InvalidArgumentError);
  CHECK_THROWS_AS(nn::huber(Tensor{1.0f, 2.0f}, Tensor{1.0f, 2.0f, 3.0f}), InvalidArgumentError);
}

TEST_CASE("regression losses as objects", "[nn][regression_losses]") {
  CHECK(nn::Huber({.delta = 0.5})(kNumbers, kLogits).item<float>() == Approx(0.694444418));
  CHECK(nn::CosineSimilarity({.axis = 0})(kNumbers, kLogits).item<float>() == Approx(-0.445922941));
  CHECK(nn::MeanAbsoluteError({.reduction = nn::Reduction::Sum})(kNumbers, kLogits).item<float>() ==
        Approx(4.85));
}
