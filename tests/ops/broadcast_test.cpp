#include <distribute/ops/detail/broadcast.hpp>

#include <distribute/ops/math.hpp>

#include "../support/check_close.hpp"
#include "../support/gradient_check.hpp"

using namespace distribute;
using namespace distribute::ops_internal;

TEST_CASE("a tensor expands along axes of size one and new axes", "[ops][broadcast]") {
  const Tensor x({2, 1}, std::vector<float>{1, 2});
  CHECK(expand_to_shape("test", x, {2, 2, 3}).to_vector() ==
        std::vector<float>{1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2});
  CHECK(expand_to_shape("test", Tensor(true), {2}).to_vector() == std::vector<float>{1, 1});
  CHECK(expand_to_shape("test", Tensor(float16(0.5f)), {2}).to_vector() ==
        std::vector<float>{0.5f, 0.5f});
  CHECK(expand_to_shape("test", Tensor(1.0f), {2, 0}).num_elements() == 0);
  CHECK_THROWS_WITH(expand_to_shape("test", zeros({2}), {1}),
                    "test: [2] does not broadcast to [1]");
}

TEST_CASE("summing to a shape undoes broadcasting", "[ops][broadcast]") {
  const Tensor x({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(sum_to_shape(x, {3}).to_vector() == std::vector<float>{5, 7, 9});
  CHECK(sum_to_shape(x, {2, 1}).to_vector() == std::vector<float>{6, 15});
  CHECK(sum_to_shape(x, {}).item<float>() == 21);
  CHECK(sum_to_shape(x, {1, 1}).shape() == Shape{1, 1});
  CHECK(sum_to_shape(x.view({1, 2, 3}), {2, 3}).to_vector() == x.to_vector());
}

TEST_CASE("expanding and summing are each other's gradient", "[ops][broadcast]") {
  check_gradient(
      [](auto& in) {
        return square(expand_to_shape("test", in[0], {4, 2, 3}));
      },
      {test_tensor({2, 1})}, {.second = true});
  check_gradient(
      [](auto& in) {
        return square(sum_to_shape(in[0], {2, 1}));
      },
      {test_tensor({3, 2, 2})}, {.second = true});
  check_gradient([](auto& in) { return square(reshaped(in[0], {4})); }, {test_tensor({2, 2})},
                 {.second = true});
}
