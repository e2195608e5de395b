#include <distribute/nn/regression_losses.hpp>

#include "loss_support.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("KL divergence and the Poisson loss follow Keras", "[nn][probability_losses]") {
  check_loss([](const Tensor& y, const Tensor& p) { return nn::kl_divergence(y, p); },
             kOtherProbabilities, kProbabilities, {0.116622485, 0.0444030687, 0.19616586},
             {-0.714285672, -1.24999988, -2.49999976, -1.99999988, -1.99999988, -0.888888896,
              -0.666666746, -1.99999988, -0.5});
  check_loss([](const Tensor& y, const Tensor& p) { return nn::poisson(y, p); },
             kOtherProbabilities, kProbabilities, {0.718780935, 0.561144769, 0.715478659},
             {0.0952381343, -0.0833331347, -0.499999195, -0.333332032, -0.333332032, 0.0370370448,
              0.111111179, -0.333333164, 0.166666701});
}

TEST_CASE("binary focal crossentropy follows Keras", "[nn][probability_losses]") {
  check_loss([](const Tensor& y, const Tensor& p) { return nn::binary_focal_crossentropy(y, p); },
             kOneHot, kProbabilities, {0.0140266987, 0.00043669084, 0.234593153},
             {-0.114192143, 0.0464191362, 0.0107277436, 0.0025869708, 0.0025869708, -0.0107277436,
              0.114192143, -1.10629833, 0.225109011});
  check_loss(
      [](const Tensor& y, const Tensor& p) {
        return nn::binary_focal_crossentropy(y, p,
                                             {.apply_class_balancing = true,
                                              .alpha = 0.3,
                                              .gamma = 1.5,
                                              .from_logits = true,
                                              .label_smoothing = 0.1});
      },
      kOneHot, kLogits, {0.117049523, 0.402352333, 0.226508185},
      {-0.00182111352, 0.0196431614, 0.1151658, 0.0814440176, 0.089627102, -0.101166591,
       0.0735573173, -8.45985269e-05, 0.155903637});
}

TEST_CASE("categorical focal crossentropy follows Keras", "[nn][probability_losses]") {
  check_loss(
      [](const Tensor& y, const Tensor& p) { return nn::categorical_focal_crossentropy(y, p); },
      kOneHot, kProbabilities, {0.008025188, 0.000263401453, 0.147486657},
      {-0.0256932341, 0.059950877, 0.059950877, 0.00724122673, 0.00724122673, -0.000804580748,
       0.248917148, -0.580806613, 0.248917148});
  check_loss(
      [](const Tensor& y, const Tensor& p) {
        return nn::categorical_focal_crossentropy(
            y, p, {.alpha = 0.3, .gamma = 1.5, .from_logits = true, .label_smoothing = 0.1});
      },
      kOneHot, kLogits, {0.0502795316, 1.05377412, 0.0684549212},
      {0.00414987234, -0.00785708986, 0.00370721752, 0.140858129, 0.1573475, -0.298205614,
       -0.0102108354, 0.0200638827, -0.00985304639});
}

TEST_CASE("probability losses as objects", "[nn][probability_losses]") {
  CHECK(nn::KLDivergence()(kOtherProbabilities, kProbabilities).item<float>() ==
        Approx(0.119063802));
  CHECK(nn::BinaryFocalCrossentropy({.gamma = 1})(kOneHot, kProbabilities).item<float>() ==
        Approx(0.147994041));
  CHECK(nn::CategoricalFocalCrossentropy({.alpha = 0.5})(kOneHot, kProbabilities).item<float>() ==
        Approx(0.103850164));
  const nn::BinaryFocalCrossentropy sum({.gamma = 1, .reduction = nn::Reduction::Sum});
  CHECK(sum(kOneHot, kProbabilities).item<float>() == Approx(3 * 0.147994041));
  CHECK(
      nn::CategoricalFocalCrossentropy({.reduction = nn::Reduction::None})(kOneHot, kProbabilities)
          .shape() == Shape{3});
}
