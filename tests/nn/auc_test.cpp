#include <distribute/base/error.hpp>
#include <distribute/nn/confusion_metrics.hpp>
#include <distribute/ops/math.hpp>

#include "metric_support.hpp"

using namespace distribute;
using namespace distribute_test;
namespace metrics = distribute::nn::metrics;

TEST_CASE("the area under the curve follows Keras", "[nn][auc]") {
  {
    metrics::AUC metric({.curve = metrics::AUCCurve::ROC,
                         .summation_method = metrics::AUCSummationMethod::Interpolation});
    check_metric(metric, kBits, kGuesses, kBitWeights, {0.733333349}, {0.894736826}, {0.927536249});
  }
  {
    metrics::AUC metric({.num_thresholds = 5,
                         .curve = metrics::AUCCurve::ROC,
                         .summation_method = metrics::AUCSummationMethod::Interpolation});
    check_metric(metric, kBits, kGuesses, kBitWeights, {0.633333325}, {0.794736803}, {0.855072498});
  }
  {
    metrics::AUC metric({.curve = metrics::AUCCurve::ROC,
                         .summation_method = metrics::AUCSummationMethod::Minoring});
    check_metric(metric, kBits, kGuesses, kBitWeights, {0.733333349}, {0.894736826}, {0.927536249});
  }
  {
    metrics::AUC metric({.num_thresholds = 5,
                         .curve = metrics::AUCCurve::ROC,
                         .summation_method = metrics::AUCSummationMethod::Minoring});
    check_metric(metric, kBits, kGuesses, kBitWeights, {0.533333302}, {0.694736838}, {0.782608628});
  }
  {
    metrics::AUC metric({.curve = metrics::AUCCurve::ROC,
                         .summation_method = metrics::AUCSummationMethod::Majoring});
    check_metric(metric, kBits, kGuesses, kBitWeights, {0.733333349}, {0.894736826}, {0.927536249});
  }
  {
    metrics::AUC metric({.num_thresholds = 5,
                         .curve = metrics::AUCCurve::ROC,
                         .summation_method = metrics::AUCSummationMethod::Majoring});
    check_metric(metric, kBits, kGuesses, kBitWeights, {0.733333349}, {0.894736826}, {0.927536249});
  }
  {
    metrics::AUC metric({.curve = metrics::AUCCurve::PR,
                         .summation_method = metrics::AUCSummationMethod::Interpolation});
    check_metric(metric, kBits, kGuesses, kBitWeights, {0.836174607}, {0.908546507}, {0.93630147});
  }
  {
    metrics::AUC metric({.num_thresholds = 5,
                         .curve = metrics::AUCCurve::PR,
                         .summation_method = metrics::AUCSummationMethod::Interpolation});
    check_metric(metric, kBits, kGuesses, kBitWeights, {0.795434892}, {0.851704121}, {0.892515838});
  }
  {
    metrics::AUC metric({.curve = metrics::AUCCurve::PR,
                         .summation_method = metrics::AUCSummationMethod::Minoring});
    check_metric(metric, kBits, kGuesses, kBitWeights, {0.616666675}, {0.691021681}, {0.758504987});
  }
  {
    metrics::AUC metric({.num_thresholds = 5,
                         .curve = metrics::AUCCurve::PR,
                         .summation_method = metrics::AUCSummationMethod::Minoring});
    check_metric(metric, kBits, kGuesses, kBitWeights, {0.391666681}, {0.192823708}, {0.172306344});
  }
  {
    metrics::AUC metric({.curve = metrics::AUCCurve::PR,
                         .summation_method = metrics::AUCSummationMethod::Majoring});
    check_metric(metric, kBits, kGuesses, kBitWeights, {0.852857113}, {0.914695859}, {0.939799309});
  }
  {
    metrics::AUC metric({.num_thresholds = 5,
                         .curve = metrics::AUCCurve::PR,
                         .summation_method = metrics::AUCSummationMethod::Majoring});
    check_metric(metric, kBits, kGuesses, kBitWeights, {0.800000012}, {0.896284819}, {0.929519475});
  }
  {
    metrics::AUC metric({.thresholds = {0.2, 0.55, 0.7}});
    check_metric(metric, kBits, kGuesses, kBitWeights, {0.633333325}, {0.794736803}, {0.855072498});
  }
  {
    metrics::AUC metric({.from_logits = true});
    check_metric(metric, kBits, kGuesses * 4.0f - 2.0f, kBitWeights, {0.733333349}, {0.894736826},
                 {0.927536249});
  }
}

TEST_CASE("the area of several labels follows Keras", "[nn][auc]") {
  const Tensor y({4, 2}, std::vector<float>{0, 1, 1, 1, 0, 0, 1, 0});
  const Tensor p({4, 2}, std::vector<float>{.2f, .7f, .6f, .4f, .3f, .5f, .9f, .1f});
  const Tensor weights({4, 1}, std::vector<float>{1, 2, 0.5f, 1});
  {
    metrics::AUC metric({.multi_label = true, .num_labels = 2});
    check_metric(metric, y, p, weights, {0.875}, {0.888888836}, {0.899999976});
  }
  {
    metrics::AUC metric({.curve = metrics::AUCCurve::PR,
                         .multi_label = true,
                         .num_labels = 2,
                         .label_weights = {0.3f, 0.7f}});
    check_metric(metric, y, p, weights, {0.858087182}, {0.901148617}, {0.944808006});
  }
  {
    metrics::AUC metric({.thresholds = {0.25, 0.45, 0.8}, .multi_label = true, .num_labels = 2});
    check_metric(metric, y, p, weights, {0.8125}, {0.861111104}, {0.866666675});
  }
}

TEST_CASE("options of the area that do not fit are an error", "[nn][auc]") {
  CHECK_THROWS_AS(metrics::AUC({.num_thresholds = 1}), InvalidArgumentError);
  CHECK_THROWS_AS(metrics::AUC({.thresholds = {2}}), InvalidArgumentError);
  CHECK_THROWS_AS(metrics::AUC({.multi_label = true}), InvalidArgumentError);
  CHECK_THROWS_AS(metrics::AUC({.num_labels = 2}), InvalidArgumentError);
  CHECK_THROWS_AS(metrics::AUC({.label_weights = {1, 2}}), InvalidArgumentError);
}
