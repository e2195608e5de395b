#include <distribute/ops/convolution.hpp>

#include "support/gradient_check.hpp"

using namespace distribute;

TEST_CASE("a transposed convolution spreads each pixel", "[ops][conv2d_transpose]") {
  const Tensor x({1, 1, 2, 1}, std::vector<float>{1, 10}),
      w({1, 2, 1, 1}, std::vector<float>{2, 3});
  const nn::Conv2DOptions apart{.strides = {1, 2}};
  const Tensor y = nn::conv2d_transpose(x, w, apart, Tensor{0.5f});
  CHECK(y.shape() == Shape{1, 1, 4, 1});
  CHECK(y.to_vector() == std::vector<float>{2.5f, 3.5f, 20.5f, 30.5f});
}

TEST_CASE("a transposed convolution has the gradients that it should", "[ops][conv2d_transpose]") {
  check_gradient(
      [](const auto& in) {
        return nn::conv2d_transpose(in[0], in[1], {.strides = {2, 2}, .padding = Padding::Same},
                                    in[2]);
      },
      {test_tensor({1, 3, 2, 2}, 1), test_tensor({3, 3, 3, 2}, 2), test_tensor({3}, 3)});
}

TEST_CASE("a transposed convolution names what does not fit", "[ops][conv2d_transpose]") {
  const Tensor x = zeros({1, 2, 2, 3});
  CHECK_THROWS_AS(nn::conv2d_transpose(x, zeros({2, 2, 3, 4})), InvalidArgumentError);
  CHECK_THROWS_AS(nn::conv2d_transpose(x, zeros({2, 2, 4, 3}), {.groups = 3}), UnimplementedError);
}
