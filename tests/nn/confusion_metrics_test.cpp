#include <distribute/base/error.hpp>
#include <distribute/nn/confusion_metrics.hpp>

#include "metric_support.hpp"

using namespace distribute;
using namespace distribute_test;
namespace metrics = nn::metrics;

TEST_CASE("counts of right and wrong predictions follow Keras", "[nn][confusion_metrics]") {
  check_metric(metrics::TruePositives(), kBits, kGuesses, kBitWeights, {2}, {3}, {4});
  check_metric(metrics::TruePositives({.thresholds = {0.25, 0.5, 0.75}}), kBits, kGuesses,
               kBitWeights, {4, 2, 2}, {4.5, 3, 3}, {5.5, 4, 4});
  check_metric(metrics::TruePositives({.thresholds = {0.9, 0.2}}), kBits, kGuesses, kBitWeights,
               {1, 4}, {1, 4.5}, {1, 5.5});
  check_metric(metrics::FalsePositives(), kBits, kGuesses, kBitWeights, {1}, {1}, {1});
  check_metric(metrics::FalsePositives({.thresholds = {0.25, 0.5, 0.75}}), kBits, kGuesses,
               kBitWeights, {2, 1, 0}, {4, 1, 0}, {4, 1, 0});
  check_metric(metrics::FalsePositives({.thresholds = {0.9, 0.2}}), kBits, kGuesses, kBitWeights,
               {0, 2}, {0, 4}, {0, 4});
  check_metric(metrics::TrueNegatives(), kBits, kGuesses, kBitWeights, {2}, {4}, {5});
  check_metric(metrics::TrueNegatives({.thresholds = {0.25, 0.5, 0.75}}), kBits, kGuesses,
               kBitWeights, {1, 2, 3}, {1, 4, 5}, {2, 5, 6});
  check_metric(metrics::TrueNegatives({.thresholds = {0.9, 0.2}}), kBits, kGuesses, kBitWeights,
               {3, 1}, {5, 1}, {6, 2});
  check_metric(metrics::FalseNegatives(), kBits, kGuesses, kBitWeights, {3}, {1.75}, {1.75});
  check_metric(metrics::FalseNegatives({.thresholds = {0.25, 0.5, 0.75}}), kBits, kGuesses,
               kBitWeights, {1, 3, 3}, {0.25, 1.75, 1.75}, {0.25, 1.75, 1.75});
  check_metric(metrics::FalseNegatives({.thresholds = {0.9, 0.2}}), kBits, kGuesses, kBitWeights,
               {4, 1}, {3.75, 0.25}, {4.75, 0.25});
}

TEST_CASE("precision and recall follow Keras", "[nn][confusion_metrics]") {
  check_metric(metrics::Precision(), kBits, kGuesses, kBitWeights, {0.666666687}, {0.75},
               {0.800000012});
  check_metric(metrics::Recall(), kBits, kGuesses, kBitWeights, {0.400000006}, {0.631578922},
               {0.695652187});
  check_metric(metrics::Precision({.thresholds = {0.25, 0.55}}), kBits, kGuesses, kBitWeights,
               {0.666666687, 0.666666687}, {0.529411793, 0.75}, {0.578947365, 0.800000012});
  check_metric(metrics::Recall({.thresholds = {0.25, 0.55}}), kBits, kGuesses, kBitWeights,
               {0.800000012, 0.400000006}, {0.947368443, 0.631578922}, {0.956521749, 0.695652187});
}

TEST_CASE("precision and recall of some predictions follow Keras", "[nn][confusion_metrics]") {
  check_metric(metrics::Precision({.top_k = 2}), kOneHot, kProbabilities, kColumnOfWeights,
               {0.333333343}, {0.428571433}, {0.454545468});
  check_metric(metrics::Recall({.top_k = 2}), kOneHot, kProbabilities, kColumnOfWeights,
               {0.666666687}, {0.857142866}, {0.909090936});
  check_metric(metrics::Precision({.thresholds = {0.25}, .class_id = 1}), kOneHot, kProbabilities,
               kColumnOfWeights, {1}, {1}, {1});
  check_metric(metrics::Recall({.class_id = 2}), kOneHot, kProbabilities, kColumnOfWeights, {1},
               {1}, {1});
  check_metric(metrics::Recall({.top_k = 1, .class_id = 2}), kOneHot, kProbabilities,
               kColumnOfWeights, {1}, {1}, {1});
}

TEST_CASE("thresholds and classes that cannot be are an error", "[nn][confusion_metrics]") {
  CHECK_THROWS_AS(metrics::Precision({.thresholds = {1.5}}), InvalidArgumentError);
  CHECK_THROWS_AS(metrics::TruePositives({.thresholds = {-0.1}}), InvalidArgumentError);
  metrics::Recall recall({.class_id = 3});
  CHECK_THROWS_AS(recall.update_state(kOneHot, kProbabilities), InvalidArgumentError);
}
