#include <distribute/nn/metrics.hpp>

#include "metric_support.hpp"

using namespace distribute;
using namespace distribute_test;
namespace metrics = nn::metrics;

TEST_CASE("the mean weighs values and starts again", "[nn][metrics]") {
  metrics::Mean mean("loss");
  CHECK(mean.result().item<float>() == 0.0f);
  mean.update_state(Tensor{1.0f, 3.0f});
  mean.update_state(5.0f);
  CHECK(mean.result().item<float>() == 3.0f);
  mean.update_state(Tensor{10.0f, 0.0f}, Tensor{3.0f, 0.0f});
  CHECK(mean.result().item<float>() == 6.5f);
  mean.reset_state();
  CHECK(mean.result().item<float>() == 0.0f);
  mean.update_state(ones({2, 3}), Tensor{1.0f, 2.0f});
  CHECK(mean.result().item<float>() == 1.0f);
  CHECK(mean.name() == "loss");
}

TEST_CASE("the sum adds weighted values", "[nn][metrics]") {
  metrics::Sum sum;
  sum.update_state(Tensor{1.0f, 3.0f});
  sum.update_state(Tensor{2.0f, 4.0f}, Tensor{0.5f, 0.0f});
  CHECK(sum.result().item<float>() == 5.0f);
}

TEST_CASE("metrics keep sums that are read over all replicas", "[nn][metrics]") {
  metrics::Mean mean;
  const auto own = mean.own_variables();
  REQUIRE(own.size() == 2);
  CHECK(own[0].name == "total");
  CHECK(own[1].variable.name() == "mean/count");
  CHECK(own[0].variable.synchronization() == VariableSynchronization::OnRead);
  CHECK(own[0].variable.aggregation() == VariableAggregation::Sum);
  CHECK_FALSE(own[0].variable.trainable());
}

TEST_CASE("accuracies count right predictions", "[nn][metrics]") {
  const Tensor p({3, 3}, std::vector<float>{.7f, .2f, .1f, .1f, .3f, .6f, .2f, .5f, .3f});
  const Tensor y{int32_t{0}, int32_t{1}, int32_t{1}};
  metrics::SparseCategoricalAccuracy sparse;
  sparse.update_state(y, p);
  CHECK(sparse.result().item<float>() == Approx(2.0 / 3));
  sparse.reset_state();
  sparse.update_state(Tensor({3, 1}, std::vector<int64_t>{0, 1, 1}), p, Tensor{1.0f, 2.0f, 1.0f});
  CHECK(sparse.result().item<float>() == 0.5f);
  const Tensor one_hot({3, 3}, std::vector<float>{1, 0, 0, 0, 1, 0, 0, 1, 0});
  metrics::CategoricalAccuracy dense;
  dense.update_state(one_hot, p);
  CHECK(dense.result().item<float>() == Approx(2.0 / 3));
}

TEST_CASE("top-k accuracies look at the k largest predictions", "[nn][metrics]") {
  const Tensor p({2, 4}, std::vector<float>{.1f, .2f, .3f, .4f, .4f, .3f, .2f, .1f});
  metrics::SparseTopKCategoricalAccuracy sparse(2);
  sparse.update_state(Tensor{int64_t{2}, int64_t{2}}, p);
  CHECK(sparse.result().item<float>() == 0.5f);
  const Tensor one_hot({2, 4}, std::vector<float>{0, 0, 1, 0, 0, 0, 1, 0});
  metrics::TopKCategoricalAccuracy dense(3), largest({.k = 1});
  dense.update_state(one_hot, p);
  CHECK(dense.result().item<float>() == 1.0f);
  largest.update_state(one_hot, p);
  CHECK(largest.result().item<float>() < 1.0f);
}

TEST_CASE("a metric takes its name beside its other options", "[nn][metrics]") {
  CHECK(metrics::BinaryAccuracy({.threshold = 0.3, .name = "right"}).name() == "right");
  CHECK(metrics::BinaryAccuracy("right").name() == "right");
  CHECK(metrics::BinaryAccuracy({}).name() == "binary_accuracy");
  CHECK(metrics::TopKCategoricalAccuracy({.k = 2, .name = "top"}).name() == "top");
  CHECK(metrics::TopKCategoricalAccuracy(3).name() == "top_k_categorical_accuracy");
  CHECK(metrics::SparseTopKCategoricalAccuracy({}).name() == "sparse_top_k_categorical_accuracy");
  CHECK(metrics::CategoricalCrossentropy({.from_logits = true, .name = "ce"}).name() == "ce");
  CHECK(metrics::SparseCategoricalCrossentropy({}).name() == "sparse_categorical_crossentropy");
  CHECK(metrics::TruePositives({.thresholds = {0.25}, .name = "tp"}).name() == "tp");
  CHECK(metrics::FalseNegatives({.thresholds = {0.25, 0.5}}).name() == "false_negatives");
  CHECK(metrics::CosineSimilarity({.axis = 0}).name() == "cosine_similarity");
}

TEST_CASE("accuracies of equal and of binary predictions follow Keras", "[nn][metrics]") {
  const Tensor numbers{int64_t{0}, int64_t{2}, int64_t{1}},
      guesses{int64_t{0}, int64_t{1}, int64_t{1}};
  check_metric(metrics::Accuracy(), numbers, guesses, kWeights, {0.666666687}, {0.428571433},
               {0.454545468});
  check_metric(metrics::BinaryAccuracy(), kOneHot, kProbabilities, kWeights, {0.888888896},
               {0.952380955}, {0.969696939});
  check_metric(metrics::BinaryAccuracy({.threshold = 0.3}), kOneHot, kProbabilities, kWeights,
               {0.777777731}, {0.90476191}, {0.939393997});
}
