#include <distribute/base/parallel.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/normalization.hpp>

#include "support/catch.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;

TEST_CASE("layer normalization brings every row to mean 0 and variance 1", "[ops][layer_norm]") {
  const Tensor x({2, 4}, std::vector<float>{1, 3, 5, 7, -10, 0, 10, 40});
  const std::vector<float> y = nn::layer_normalization(x, {}, {}, {.epsilon = 0}).to_vector();
  const float root5 = std::sqrt(5.0f);
  for (size_t i = 0; i < 4; ++i) CHECK(y[i] == Approx((float(2 * i) - 3) / root5).margin(1e-6));
  for (size_t i = 4; i < 8; ++i)
    CHECK(y[i] == Approx((x.to_vector()[i] - 10) / std::sqrt(350.0f)).margin(1e-6));
}

TEST_CASE("layer normalization applies gamma and beta of several axes", "[ops][layer_norm]") {
  const Tensor x = test_tensor({3, 2, 5}), gamma = test_tensor({2, 5}, 2),
               beta = test_tensor({2, 5}, 3);
  const auto plain = nn::layer_normalization(x, {}, {}, {.begin_axis = 1}).to_vector();
  const auto y = nn::layer_normalization(x, gamma, beta, {.begin_axis = 1}).to_vector();
  for (size_t i = 0; i < y.size(); ++i)
    CHECK(y[i] ==
          Approx(plain[i] * gamma.to_vector()[i % 10] + beta.to_vector()[i % 10]).margin(1e-6));
}

TEST_CASE("gradients of layer normalization", "[ops][layer_norm]") {
  const Tensor x = test_tensor({3, 7}), gamma = test_tensor({7}, 2, 0.5f, 1.5f),
               beta = test_tensor({7}, 3);
  check_gradient([](auto& in) { return nn::layer_normalization(in[0], in[1], in[2]); },
                 {x, gamma, beta});
  check_gradient(
      [](auto& in) { return nn::layer_normalization(in[0], {}, in[1], {.begin_axis = 1}); },
      {test_tensor({2, 3, 2}), test_tensor({3, 2}, 4)});
}

TEST_CASE("layer normalization gives the same bits for any number of threads",
          "[ops][layer_norm]") {
  const Tensor x = test_tensor({700, 64}), gamma = test_tensor({64}, 2), beta = zeros({64});
  const auto run = [&](int threads) {
    const int before = intra_op_threads();
    set_intra_op_threads(threads);
    WatchingTape tape({x, gamma, beta});
    const Tensor y = nn::layer_normalization(x, gamma, beta);
    auto result = tape.gradient(y, {x, gamma, beta});
    result.push_back(y);
    set_intra_op_threads(before);
    return result;
  };
  const auto one = run(1), three = run(3);
  for (size_t i = 0; i < one.size(); ++i) CHECK(one[i].to_vector() == three[i].to_vector());
}

TEST_CASE("layer normalization of nothing, of halves, of wrong shapes", "[ops][layer_norm]") {
  CHECK(nn::layer_normalization(zeros({0, 3}), ones({3})).shape() == Shape{0, 3});
  const Tensor half = cast(test_tensor({2, 3}), DType::Float16);
  CHECK(nn::layer_normalization(half, ones({3})).dtype() == DType::Float16);
  CHECK_THROWS_WITH(nn::layer_normalization(zeros({2, 3}), ones({2})),
                    "layer_normalization: a parameter of shape [2] for the normalized axes [3] of "
                    "[2, 3]");
  CHECK_THROWS_AS(nn::layer_normalization(zeros({2, 3}, DType::Int32)), InvalidArgumentError);
}
