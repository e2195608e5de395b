#include <distribute/ops/activation.hpp>

#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include <tests/support/hashed_numbers.hpp>
#include <tests/support/watching_tape.hpp>

#include <array>
#include <cmath>
#include <vector>

#include "../support/check_close.hpp"
#include "../support/gradient_check.hpp"

using namespace distribute;

TEST_CASE("sparse cross entropy is minus the logarithm of the label's probability",
          "[ops][cross_entropy]") {
  const Tensor logits({2, 3}, std::vector<float>{1, 2, 3, -1, 0, 5});
  for (DType dtype : {DType::Int32, DType::Int64, DType::UInt8}) {
    const Tensor labels = cast(Tensor{0, 2}, dtype);
    const Tensor loss = nn::sparse_softmax_cross_entropy_with_logits(labels, logits);
    CHECK(loss.shape() == Shape{2});
    check_close(loss, {2.40760596, 0.00917448});
  }
}

TEST_CASE("one-hot and sparse labels give the same loss, smoothed or not", "[ops][cross_entropy]") {
  const Tensor logits = test_tensor({2, 2, 4}, 1, -3, 3);
  const Tensor labels({2, 2}, std::vector<int32_t>{3, 0, 1, 1});
  Tensor hot = zeros({2, 2, 4});
  for (int i : {3, 4, 9, 13}) hot.mutable_data<float>()[i] = 1;
  for (float smoothing : {0.0f, 0.1f, 1.0f}) {
    const Tensor sparse = nn::sparse_softmax_cross_entropy_with_logits(labels, logits, smoothing);
    const Tensor dense = nn::softmax_cross_entropy_with_logits(hot, logits, smoothing);
    const Tensor weights = hot * (1 - smoothing) + smoothing / 4;
    const Tensor plain = negative(reduce_sum(weights * nn::log_softmax(logits), {-1}));
    const auto wanted = plain.to_vector();
    CHECK(sparse.shape() == Shape{2, 2});
    check_close(sparse, {wanted.begin(), wanted.end()});
    check_close(dense, {wanted.begin(), wanted.end()});
  }
}

TEST_CASE("cross entropy has first and second derivatives", "[ops][cross_entropy]") {
  const Tensor logits = test_tensor({3, 4}, 1, -2, 2), labels{int64_t{2}, int64_t{0}, int64_t{3}};
  const Tensor weights = nn::softmax(test_tensor({3, 4}, 2)), half = weights * 0.5f;
  for (float smoothing : {0.0f, 0.2f}) {
    check_gradient(
        [=](auto& in) {
          return nn::sparse_softmax_cross_entropy_with_logits(labels, in[0], smoothing);
        },
        {logits}, {.second = true});
    for (const Tensor& given : {weights, half})  // half: labels that do not sum to one
      check_gradient(
          [=](auto& in) { return nn::softmax_cross_entropy_with_logits(in[0], in[1], smoothing); },
          {given, logits}, {.second = true});
  }
  check_gradient([](auto& in) { return nn::sigmoid_cross_entropy_with_logits(in[0], in[1]); },
                 {weights, logits}, {.second = true});
}

// TensorFlow 2.21: x = uniform([3, 37], 1) 8, labels [5, 0, 36] or weights |uniform([3, 37], 2)|
// whose first row is one class and whose second sums to 1; upstream gradients [1, -2, 0.5].
TEST_CASE("cross entropy of rows that fill no whole vectors is TensorFlow's",
          "[ops][cross_entropy]") {
  const Tensor logits = distribute::testing::hashed_numbers({3, 37}, 1, 8);
  std::vector<float> weights = distribute::testing::hashed_numbers({3, 37}, 2).to_vector();
  float sum = 0;
  for (float& weight : weights) weight = std::abs(weight);
  for (size_t k = 0; k < 37; ++k) weights[k] = k == 4, sum += weights[37 + k];
  for (size_t k = 0; k < 37; ++k) weights[37 + k] /= sum;
  const Tensor labels({3, 37}, weights), upstream{1.0f, -2.0f, 0.5f};
  const auto check = [&](const auto& fn, const std::vector<double>& losses,
                         const std::vector<double>& columns) {
    WatchingTape tape({logits});
    const Tensor loss = fn();
    check_close(loss, losses, 2e-6);
    const std::vector<float> all = tape.gradient(reduce_sum(loss * upstream), logits).to_vector();
    std::vector<float> some;  // columns 0, 5 and 36 of the rows
    for (size_t i = 0; i < columns.size(); ++i)
      some.push_back(all[i / 3 * 37 + std::array{0u, 5u, 36u}[i % 3]]);
    check_close(Tensor({int64_t(some.size())}, some), columns, 2e-6);
  };
  check(
      [&] {
        return nn::sparse_softmax_cross_entropy_with_logits(Tensor{5, 0, 36}, logits);
      },
      {15.525374, 6.4442258, 2.9770856},
      {0.0052471333, -0.99999982, 6.6940572e-08, 1.9968207, -1.3584172e-06, -1.53173e-05,
       0.0010053093, 0.0031485278, -0.47452945});
  check([&] { return nn::softmax_cross_entropy_with_logits(labels, logits); },
        {11.878615, 10.399305, 141.77655},
        {0.0052471333, 1.8089042e-07, 6.6940572e-08, 0.0024379434, 0.0546389, 0.050864261});
  check([&] { return nn::softmax_cross_entropy_with_logits(labels, logits, 0.1f); },
        {11.67208, 10.346433, 128.39313},
        {0.0025444306, -0.0027025219, -0.0027026357, 0.0072816191, 0.054580275, 0.051181704});
}

// With labels [1, 1, 0] and logits [0, 0, 0] TensorFlow 2.21 gives [-0.6666667, -0.6666667,
// 0.33333334]; its documentation calls the gradient wrong where labels do not sum to 1.
TEST_CASE("the gradient of cross entropy is the derivative for labels that do not sum to 1",
          "[ops][cross_entropy]") {
  const Tensor logits = zeros({3});
  WatchingTape tape({logits});
  const Tensor loss = nn::softmax_cross_entropy_with_logits(Tensor{1.0f, 1.0f, 0.0f}, logits);
  check_close(loss, {2 * std::log(3.0)});
  check_close(tape.gradient(loss, logits), {-1.0 / 3, -1.0 / 3, 2.0 / 3});
}

TEST_CASE("cross entropy is finite for logits far apart", "[ops][cross_entropy]") {
  const Tensor logits({2, 2}, std::vector<float>{1000, -1000, 1000, -1000});
  WatchingTape tape({logits});
  const Tensor loss = nn::sparse_softmax_cross_entropy_with_logits(Tensor{0, 1}, logits);
  CHECK(loss.to_vector() == std::vector<float>{0, 2000});
  CHECK(tape.gradient(loss, logits).to_vector() == std::vector<float>{0, 0, 1, -1});
  check_close(nn::sigmoid_cross_entropy_with_logits(Tensor{1.0f, 0.0f}, Tensor{-1000.0f, 0.0f}),
              {1000, 0.69314718});
  const float inf = std::numeric_limits<float>::infinity();
  check_close(nn::softmax_cross_entropy_with_logits(Tensor{1.0f, 0.0f}, Tensor{0.0f, -inf}), {0});
}

TEST_CASE("a label outside the classes is named with its place", "[ops][cross_entropy]") {
  CHECK_THROWS_WITH(
      nn::sparse_softmax_cross_entropy_with_logits(Tensor{0, 12, -1}, zeros({3, 10})),
      "sparse_softmax_cross_entropy_with_logits: label 12 at position 1 is outside the valid "
      "range [0, 10)");
  CHECK_THROWS_AS(nn::sparse_softmax_cross_entropy_with_logits(Tensor{-1}, zeros({1, 10})),
                  InvalidArgumentError);
}

TEST_CASE("cross entropy refuses what does not fit", "[ops][cross_entropy]") {
  const Tensor logits = zeros({2, 3});
  using nn::softmax_cross_entropy_with_logits;
  using nn::sparse_softmax_cross_entropy_with_logits;
  CHECK_THROWS_WITH(sparse_softmax_cross_entropy_with_logits(Tensor{1, 2, 0}, logits),
                    "sparse_softmax_cross_entropy_with_logits: labels [3] do not fit logits "
                    "[2, 3]; wanted [2]");
  CHECK_THROWS_AS(sparse_softmax_cross_entropy_with_logits(Tensor{1.0f, 2.0f}, logits),
                  InvalidArgumentError);
  CHECK_THROWS_AS(softmax_cross_entropy_with_logits(zeros({3}), logits), InvalidArgumentError);
  CHECK_THROWS_AS(softmax_cross_entropy_with_logits(logits, logits, 1.5f), InvalidArgumentError);
  CHECK_THROWS_AS(sparse_softmax_cross_entropy_with_logits(Tensor(1), Tensor(1.0f)),
                  InvalidArgumentError);
  CHECK_THROWS_AS(nn::sigmoid_cross_entropy_with_logits(zeros({3}), logits), InvalidArgumentError);
}

TEST_CASE("cross entropy of 16-bit logits is computed in float32", "[ops][cross_entropy]") {
  const Tensor logits = cast(Tensor({1, 3}, std::vector<float>{1, 2, 3}), DType::BFloat16);
  WatchingTape tape({logits});
  const Tensor loss = nn::sparse_softmax_cross_entropy_with_logits(Tensor{0}, logits);
  CHECK(loss.dtype() == DType::BFloat16);
  check_close(loss, {2.40760596}, 0x1p-8);
  const Tensor gradient = tape.gradient(loss, logits);
  CHECK(gradient.dtype() == DType::BFloat16);
  check_close(gradient, {0.09003057 - 1, 0.24472847, 0.66524096}, 0x1p-8);
}
