#include <distribute/ops/activation.hpp>

#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

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
