#include <distribute/base/error.hpp>
#include <distribute/nn/confusion_metrics.hpp>

#include "metric_support.hpp"

using namespace distribute;
using namespace distribute_test;
namespace metrics = nn::metrics;

TEST_CASE("F scores follow Keras", "[nn][f_score]") {
  check_metric(metrics::FBetaScore({.average = metrics::FScoreAverage::None, .beta = 2}), kOneHot,
               kProbabilities, kWeights, {0.999999881, 0, 0.833333194},
               {0.999999881, 0, 0.952381015}, {1, 0, 0.967741907});
  check_metric(metrics::F1Score({.average = metrics::FScoreAverage::None, .threshold = 0.35}),
               kOneHot, kProbabilities, kWeights, {0.999999821, 0, 0.666666567},
               {0.999999821, 0, 0.888888896}, {1, 0, 0.923076868});
  check_metric(metrics::FBetaScore({.average = metrics::FScoreAverage::Micro, .beta = 2}), kOneHot,
               kProbabilities, kWeights, {0.666666687}, {0.857142866}, {0.909090996});
  check_metric(metrics::F1Score({.average = metrics::FScoreAverage::Micro, .threshold = 0.35}),
               kOneHot, kProbabilities, kWeights, {0.666666627}, {0.857142806}, {0.909090877});
  check_metric(metrics::FBetaScore({.average = metrics::FScoreAverage::Macro, .beta = 2}), kOneHot,
               kProbabilities, kWeights, {0.611110985}, {0.650793612}, {0.655914009});
  check_metric(metrics::F1Score({.average = metrics::FScoreAverage::Macro, .threshold = 0.35}),
               kOneHot, kProbabilities, kWeights, {0.555555463}, {0.629629552}, {0.641025603});
  check_metric(metrics::FBetaScore({.average = metrics::FScoreAverage::Weighted, .beta = 2}),
               kOneHot, kProbabilities, kWeights, {0.611111045}, {0.829932034}, {0.891495585});
  check_metric(metrics::F1Score({.average = metrics::FScoreAverage::Weighted, .threshold = 0.35}),
               kOneHot, kProbabilities, kWeights, {0.555555463}, {0.793650746}, {0.867132843});
}

TEST_CASE("F scores refuse what cannot be", "[nn][f_score]") {
  CHECK_THROWS_AS(metrics::FBetaScore({.beta = 0}), InvalidArgumentError);
  CHECK_THROWS_AS(metrics::F1Score({.threshold = 1.5}), InvalidArgumentError);
  metrics::F1Score metric;
  CHECK(metric.result().item<float>() == 0.0f);
  CHECK_THROWS_AS(metric.update_state(kBits, kGuesses), InvalidArgumentError);
}
