#include <distribute/ops/activation.hpp>

#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include "../support/check_close.hpp"
#include "../support/gradient_check.hpp"

using namespace distribute;

TEST_CASE("softmax gives probabilities and their logarithms", "[ops][softmax]") {
  const Tensor x({2, 3}, std::vector<float>{1, 2, 3, -1, 0, 5});
  check_close(nn::softmax(x),
              {0.09003057, 0.24472847, 0.66524096, 0.00245611, 0.00667641, 0.99086747});
  check_close(nn::log_softmax(x),
              {-2.40760596, -1.40760596, -0.40760596, -6.00917448, -5.00917448, -0.00917448});
}

TEST_CASE("softmax runs along any axis", "[ops][softmax]") {
  const Tensor x = test_tensor({2, 3, 4});
  for (int axis : {0, 1, 2, -1, -2, -3}) {
    const Tensor sums = reduce_sum(nn::softmax(x, axis), {axis});
    check_close(sums, std::vector<double>(size_t(sums.num_elements()), 1.0));
    check_close(nn::log_softmax(x, axis) - log(nn::softmax(x, axis)), std::vector<double>(24, 0.0));
  }
  CHECK_THROWS_AS(nn::softmax(x, 3), InvalidArgumentError);
  CHECK_THROWS_AS(nn::softmax(Tensor(1.0f)), InvalidArgumentError);
  CHECK_THROWS_WITH(nn::softmax(Tensor{1, 2}), "softmax: wants a floating dtype, got int32");
}

TEST_CASE("softmax survives large and infinite logits", "[ops][softmax]") {
  const float inf = std::numeric_limits<float>::infinity();
  check_close(nn::softmax(Tensor{1e4f, 1e4f, -1e4f}), {0.5, 0.5, 0});
  check_close(nn::softmax(Tensor{0.0f, -inf}), {1, 0});
  check_close(nn::log_softmax(Tensor{1000.0f, 0.0f}), {0, -1000});
  CHECK(nn::softmax(zeros({0, 3})).shape() == Shape{0, 3});
}

TEST_CASE("glu multiplies one half by the sigmoid of the other", "[ops][softmax]") {
  const Tensor x({2, 2}, std::vector<float>{1, 2, 3, -4});
  check_close(nn::glu(x), {0.8807971, 0.0539586});
  check_close(nn::glu(x, 0), {0.9525741, 0.0359724});
  check_gradient([](auto& in) { return nn::glu(in[0], 1); }, {test_tensor({2, 4, 3})},
                 {.second = true});
  CHECK_THROWS_WITH(nn::glu(zeros({2, 3})),
                    "glu: axis size must be divisible by 2. Received: x.shape=[2, 3] with axis=-1");
}

TEST_CASE("sparsemax follows Keras", "[ops][softmax]") {
  check_close(nn::sparsemax(Tensor{1.0f, 2.0f, 3.0f}), {0, 0, 1});
  check_close(nn::sparsemax(Tensor{0.0f, 0.0f, -1.0f}), {0.5, 0.5, 0});
  // Keras 3.15 adds up 0.5, 0.9 and 1 for its threshold, (2.4 - 1) / 3.
  check_close(nn::sparsemax(Tensor{0.5f, 0.4f, 0.1f}), {0.0333333, 0, 0});
  const Tensor x({2, 3}, std::vector<float>{0, 0.1f, 3, 0.6f, 0.5f, -3});
  check_gradient([](auto& in) { return nn::sparsemax(in[0], 1); }, {x});
  CHECK_THROWS_AS(nn::sparsemax(Tensor{1, 2}), InvalidArgumentError);
}

TEST_CASE("softmax has first and second derivatives", "[ops][softmax]") {
  const Tensor x = test_tensor({2, 3, 2});
  for (int axis : {1, -1}) {
    check_gradient([=](auto& in) { return nn::softmax(in[0], axis); }, {x}, {.second = true});
    check_gradient([=](auto& in) { return nn::log_softmax(in[0], axis); }, {x}, {.second = true});
  }
}

TEST_CASE("softmax of 16-bit floats is computed in float32", "[ops][softmax]") {
  const Tensor x{bfloat16(1.0f), bfloat16(2.0f)};
  CHECK(nn::softmax(x).dtype() == DType::BFloat16);
  check_close(nn::softmax(x), {0.26894142, 0.73105858}, 0x1p-8);
}
