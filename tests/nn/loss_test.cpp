#include <distribute/nn/loss.hpp>

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/metrics.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include "support/catch.hpp"
#include "support/check_throws.hpp"
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

// TensorFlow 2.21 with Keras 3: 2.5 and 5 for two replicas, whose losses are {1, 9} and {4, 16},
// and 10 and 20 with reduction sum; with weights {1, 0} and {2, 1}: 0.25 and 6.
TEST_CASE("a mean is divided by the number of replicas", "[nn][loss]") {
  const Tensor zero({2, 1}, std::vector<float>{0, 0});
  const Tensor predictions[] = {Tensor({2, 1}, std::vector<float>{1, 3}),
                                Tensor({2, 1}, std::vector<float>{2, 4})};
  const Tensor weights[] = {Tensor{1.0f, 0.0f}, Tensor{2.0f, 1.0f}};
  float means[2], sums[2], weighted[2];
  run_two_replicas([&](int r) {
    means[r] = nn::MeanSquaredError()(zero, predictions[r]).item<float>();
    sums[r] = nn::MeanSquaredError({Reduction::Sum})(zero, predictions[r]).item<float>();
    weighted[r] =
        nn::MeanSquaredError({Reduction::SumOverBatchSize})(zero, predictions[r], weights[r])
            .item<float>();
  });
  CHECK((means[0] == 2.5f && means[1] == 5.0f));
  CHECK((sums[0] == 10.0f && sums[1] == 20.0f));
  CHECK((weighted[0] == 0.25f && weighted[1] == 6.0f));
}

// TensorFlow 2.21 with Keras 3, in the scope of two and three replicas: 2.5 and 1.6666667.
TEST_CASE("a mean in cross-replica context is divided by the strategy's number of replicas, too",
          "[nn][loss]") {
  struct Group final : SyncGroup {
    int replicas = 2;
    int num_replicas_in_sync() const override { return replicas; }
  } group;
  const Tensor zero({2, 1}, std::vector<float>{0, 0}), y({2, 1}, std::vector<float>{1, 3});
  const replica_internal::ModeScope across({.group = &group});
  CHECK(nn::MeanSquaredError()(zero, y).item<float>() == 2.5f);
  group.replicas = 3;
  CHECK(nn::MeanSquaredError()(zero, y).item<float>() == 1.6666667f);
  CHECK(nn::MeanSquaredError({Reduction::Sum})(zero, y).item<float>() == 10.0f);
}

// What TensorFlow gives for every shape: tests/comparison/weight_cases.py.
TEST_CASE("weights that do not have the first axes of the losses are refused", "[nn][loss]") {
  const Tensor y({2, 3, 1}, std::vector<float>{1, 2, 3, 4, 5, 6}), zero = zeros({2, 3, 1});
  const nn::MeanSquaredError loss;
  CHECK_THROWS_SAYING(loss(zero, y, Tensor{1.0f, 0.0f, 2.0f}), InvalidArgumentError,
                      "sample_weight of shape [3] does not fit values of shape [2, 3]");
  CHECK_THROWS_SAYING(loss(zero, y, zeros({2, 3, 2})), InvalidArgumentError,
                      "sample_weight of shape [2, 3, 2]");
  CHECK_THROWS_SAYING(loss(zero, y, zeros({2, 1, 2, 1})), InvalidArgumentError, "does not fit");
}

TEST_CASE("a masked loss has the gradient of the steps that count", "[nn][loss]") {
  const Tensor mask = cast(Tensor({2, 2}, std::vector<float>{1, 0, 1, 1}), DType::Bool);
  Variable weight(Tensor({1, 1}, std::vector<float>{1}));
  const Tensor x({2, 2, 1}, std::vector<float>{1, 2, 3, 4}), y = zeros({2, 2, 1});
  GradientTape tape;
  nn::Lambda scale([&](const Tensor& in) { return in * weight.value(); });
  const auto scaled = nn::nn_internal::with_mask(scale(x), mask);
  const Tensor loss = nn::MeanSquaredError()(y, scaled);
  CHECK(loss.item<float>() == Approx((1 + 9 + 16) / 3.0));
  CHECK(tape.gradient(loss, weight).item<float>() == Approx(2 * (1 + 9 + 16) / 3.0));
  // A loss that has given up the steps has no place for the mask.
  const auto whole = [](const Tensor&, const Tensor& p) { return reduce_sum(p, {1, 2}); };
  nn::metrics::MeanMetricWrapper metric(whole);
  CHECK_THROWS_SAYING(metric.update_state(y, scaled), InvalidArgumentError,
                      "the mask of the predictions, of shape [2, 2] does not fit");
}
