#include <distribute/nn/loss.hpp>

#include "support/catch.hpp"
#include "two_replicas.hpp"

using namespace distribute;
using namespace distribute_test;
using nn::Reduction;

TEST_CASE("loss objects weigh and reduce", "[nn][loss]") {
  const Tensor y({2, 2}, std::vector<float>{1, 2, 3, 4});
  const Tensor p({2, 2}, std::vector<float>{1, 1, 1, 1});
  CHECK(nn::MeanSquaredError()(y, p).item<float>() == 3.5f);
  CHECK(nn::MeanSquaredError({Reduction::Sum})(y, p).item<float>() == 7.0f);
  const nn::MeanSquaredError each({Reduction::None});
  CHECK(each(y, p).to_vector() == std::vector<float>{0.5f, 6.5f});
  CHECK(each(y, p, Tensor{2.0f, 0.0f}).to_vector() == std::vector<float>{1, 0});
  CHECK(nn::MeanSquaredError()(y, p, Tensor{2.0f, 0.0f}).item<float>() == 0.5f);
}

TEST_CASE("crossentropy objects pass their options on", "[nn][loss]") {
  const Tensor logits({1, 3}, std::vector<float>{2, -1, 0.5f});
  const Tensor one_hot({1, 3}, std::vector<float>{1, 0, 0});
  CHECK(nn::SparseCategoricalCrossentropy({.from_logits = true})(Tensor{int64_t{0}}, logits)
            .item<float>() == Approx(0.241311327));
  CHECK(nn::CategoricalCrossentropy({.from_logits = true, .label_smoothing = 0.1f})(one_hot, logits)
            .item<float>() == Approx(0.391311347));
  CHECK(nn::BinaryCrossentropy({.from_logits = true})(one_hot, logits).item<float>() ==
        Approx(0.471422225));
}

TEST_CASE("dividing by a replica's batch is refused where there are several", "[nn][loss]") {
  const Tensor y({1, 1}, std::vector<float>{1});
  run_two_replicas([&](int) {
    CHECK_THROWS_AS(nn::MeanSquaredError()(y, y), InvalidArgumentError);
    CHECK_THROWS_AS(nn::MeanSquaredError({Reduction::SumOverBatchSize})(y, y),
                    InvalidArgumentError);
    CHECK(nn::MeanSquaredError({Reduction::Sum})(y, y).item<float>() == 0.0f);
    CHECK(nn::MeanSquaredError({Reduction::None})(y, y).shape() == Shape{1});
  });
}

TEST_CASE("dividing by a batch is refused in cross-replica context", "[nn][loss]") {
  const Tensor y({1, 1}, std::vector<float>{1});
  const replica_internal::ModeScope across({});
  CHECK_THROWS_AS(nn::MeanSquaredError()(y, y), InvalidArgumentError);
  CHECK(nn::MeanSquaredError({Reduction::Sum})(y, y).item<float>() == 0.0f);
}
