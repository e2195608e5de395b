#include <distribute/nn/regression_losses.hpp>

#include "loss_support.hpp"

using namespace distribute;
using namespace distribute_test;

namespace {
const Tensor kSigns({3, 3}, std::vector<float>{1, -1, -1, -1, -1, 1, -1, 1, -1});
}  // namespace

TEST_CASE("hinge follows Keras with bits and with signs", "[nn][hinge_losses]") {
  check_loss([](const Tensor& y, const Tensor& p) { return nn::hinge(y, p); }, kOneHot, kLogits,
             {0.5, 2.10000014, 1},
             {0, 0.333333343, 0.333333343, 0.333333343, 0.333333343, -0.333333343, 0.333333343, 0,
              0.333333343});
  check_loss([](const Tensor& y, const Tensor& p) { return nn::hinge(y, p); }, kSigns, kLogits,
             {0.5, 2.10000014, 1},
             {0, 0.333333343, 0.333333343, 0.333333343, 0.333333343, -0.333333343, 0.333333343, 0,
              0.333333343});
}

TEST_CASE("squared and categorical hinge follow Keras", "[nn][hinge_losses]") {
  check_loss([](const Tensor& y, const Tensor& p) { return nn::squared_hinge(y, p); }, kOneHot,
             kLogits, {0.75, 6.2166667, 1.66666663},
             {0, 0, 1, 0.733333349, 0.800000072, -2.66666675, 0.666666687, 0, 1.33333337});
  check_loss([](const Tensor& y, const Tensor& p) { return nn::categorical_hinge(y, p); }, kOneHot,
             kLogits, {0, 4.19999981, 0}, {0, 0, 0, 0, 1, -1, 0, 0, 0});
}

TEST_CASE("hinge losses as objects", "[nn][hinge_losses]") {
  CHECK(nn::Hinge()(kOneHot, kLogits).item<float>() == Approx((0.5 + 2.1 + 1) / 3));
}
