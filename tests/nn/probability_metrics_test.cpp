#include <distribute/nn/mean_metrics.hpp>

#include "metric_support.hpp"

using namespace distribute;
using namespace distribute_test;
namespace metrics = nn::metrics;

TEST_CASE("means of losses between distributions follow Keras", "[nn][probability_metrics]") {
  check_metric(metrics::KLDivergence(), kOtherProbabilities, kProbabilities, kWeights,
               {0.119063802}, {0.0867175907}, {0.0844612867});
  check_metric(metrics::Poisson(), kOtherProbabilities, kProbabilities, kWeights, {0.665134788},
               {0.628231347}, {0.63249737});
  check_metric(metrics::BinaryCrossentropy(), kOneHot, kProbabilities, kWeights, {0.329399943},
               {0.203505725}, {0.183632508});
  check_metric(metrics::BinaryCrossentropy({.from_logits = true, .label_smoothing = 0.1}), kOneHot,
               kLogits, kWeights, {0.904438734}, {1.09321821}, {1.05722308});
  check_metric(metrics::CategoricalCrossentropy(), kOneHot, kProbabilities, kWeights, {0.555336118},
               {0.334109277}, {0.296621442});
  const Tensor numbers{int64_t{0}, int64_t{2}, int64_t{1}};
  check_metric(metrics::SparseCategoricalCrossentropy(), numbers, kProbabilities, kWeights,
               {0.555336118}, {0.334109306}, {0.296621472});
}

// exp of the crossentropies that Keras gives for the classes 0, 2 and 1.
TEST_CASE("perplexity is e to the mean crossentropy of tokens that count",
          "[nn][probability_metrics]") {
  const Tensor y({1, 3}, std::vector<int64_t>{0, 2, 1});
  const Tensor p({1, 3, 3}, kProbabilities.to_vector());
  metrics::Perplexity all, some({.mask_token_id = 1});
  all.update_state(y, p);
  some.update_state(y, p);
  CHECK(all.result().item<float>() ==
        Approx(std::exp((0.356674969 + 0.10536056 + 1.20397282) / 3)));
  CHECK(some.result().item<float>() == Approx(std::exp((0.356674969 + 0.10536056) / 2)));
}
