#include <distribute/base/error.hpp>
#include <distribute/nn/confusion_metrics.hpp>
#include <distribute/ops/math.hpp>

#include "metric_support.hpp"

using namespace distribute;
using namespace distribute_test;
namespace metrics = nn::metrics;
using metrics::AUC;

TEST_CASE("the area under the curve follows Keras", "[nn][auc]") {
  using enum metrics::AUCCurve;
  using enum metrics::AUCSummationMethod;
  struct Row {
    int64_t thresholds;
    metrics::AUCCurve curve;
    metrics::AUCSummationMethod method;
    Figures wanted;
  };
  const Row rows[] = {{200, ROC, Interpolation, {0.733333349, 0.894736826, 0.927536249}},
                      {5, ROC, Interpolation, {0.633333325, 0.794736803, 0.855072498}},
                      {200, ROC, Minoring, {0.733333349, 0.894736826, 0.927536249}},
                      {5, ROC, Minoring, {0.533333302, 0.694736838, 0.782608628}},
                      {200, ROC, Majoring, {0.733333349, 0.894736826, 0.927536249}},
                      {5, ROC, Majoring, {0.733333349, 0.894736826, 0.927536249}},
                      {200, PR, Interpolation, {0.836174607, 0.908546507, 0.93630147}},
                      {5, PR, Interpolation, {0.795434892, 0.851704121, 0.892515838}},
                      {200, PR, Minoring, {0.616666675, 0.691021681, 0.758504987}},
                      {5, PR, Minoring, {0.391666681, 0.192823708, 0.172306344}},
                      {200, PR, Majoring, {0.852857113, 0.914695859, 0.939799309}},
                      {5, PR, Majoring, {0.800000012, 0.896284819, 0.929519475}}};
  for (const auto& [thresholds, curve, method, wanted] : rows) {
    INFO(thresholds << " thresholds, curve " << int(curve) << ", method " << int(method));
    check_metric(AUC({.num_thresholds = thresholds, .curve = curve, .summation_method = method}),
                 kBits, kGuesses, kBitWeights, wanted);
  }
  check_metric(AUC({.thresholds = {0.2, 0.55, 0.7}}), kBits, kGuesses, kBitWeights,
               {0.633333325, 0.794736803, 0.855072498});
  check_metric(AUC({.from_logits = true}), kBits, kGuesses * 4.0f - 2.0f, kBitWeights,
               {0.733333349, 0.894736826, 0.927536249});
}

TEST_CASE("the area of several labels follows Keras", "[nn][auc]") {
  const Tensor y({4, 2}, std::vector<float>{0, 1, 1, 1, 0, 0, 1, 0});
  const Tensor p({4, 2}, std::vector<float>{.2f, .7f, .6f, .4f, .3f, .5f, .9f, .1f});
  const Tensor weights({4, 1}, std::vector<float>{1, 2, 0.5f, 1});
  check_metric(AUC({.multi_label = true, .num_labels = 2}), y, p, weights,
               {0.875, 0.888888836, 0.899999976});
  check_metric(AUC({.curve = metrics::AUCCurve::PR,
                    .multi_label = true,
                    .num_labels = 2,
                    .label_weights = {0.3f, 0.7f}}),
               y, p, weights, {0.858087182, 0.901148617, 0.944808006});
  check_metric(AUC({.thresholds = {0.25, 0.45, 0.8}, .multi_label = true, .num_labels = 2}), y, p,
               weights, {0.8125, 0.861111104, 0.866666675});
}

TEST_CASE("options of the area that do not fit are an error", "[nn][auc]") {
  CHECK_THROWS_AS(AUC({.num_thresholds = 1}), InvalidArgumentError);
  CHECK_THROWS_AS(AUC({.thresholds = {2}}), InvalidArgumentError);
  CHECK_THROWS_AS(AUC({.multi_label = true}), InvalidArgumentError);
  CHECK_THROWS_AS(AUC({.num_labels = 2}), InvalidArgumentError);
  CHECK_THROWS_AS(AUC({.label_weights = {1, 2}}), InvalidArgumentError);
}
