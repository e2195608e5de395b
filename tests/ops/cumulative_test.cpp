#include <distribute/base/error.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include "ops_support.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("running sums follow TensorFlow", "[ops][cumulative]") {
  check_tensor(cumsum(kMatrix, 0, {.exclusive = false, .reverse = false}), {3, 4},
               {3, -1, 2, 5, 3.5, 3, 0, 6, 6, 3.25, -3, 12});
  check_tensor(cumsum(kMatrix, 0, {.exclusive = false, .reverse = true}), {3, 4},
               {6, 3.25, -3, 12, 3, 4.25, -5, 7, 2.5, 0.25, -3, 6});
  check_tensor(cumsum(kMatrix, 0, {.exclusive = true, .reverse = false}), {3, 4},
               {0, 0, 0, 0, 3, -1, 2, 5, 3.5, 3, 0, 6});
  check_tensor(cumsum(kMatrix, 0, {.exclusive = true, .reverse = true}), {3, 4},
               {3, 4.25, -5, 7, 2.5, 0.25, -3, 6, 0, 0, 0, 0});
  check_tensor(cumsum(kMatrix, -1, {.exclusive = false, .reverse = false}), {3, 4},
               {3, 2, 4, 9, 0.5, 4.5, 2.5, 3.5, 2.5, 2.75, -0.25, 5.75});
  check_tensor(cumsum(kMatrix, -1, {.exclusive = false, .reverse = true}), {3, 4},
               {9, 6, 7, 5, 3.5, 3, -1, 1, 5.75, 3.25, 3, 6});
  check_tensor(cumsum(kMatrix, -1, {.exclusive = true, .reverse = false}), {3, 4},
               {0, 3, 2, 4, 0, 0.5, 4.5, 2.5, 0, 2.5, 2.75, -0.25});
  check_tensor(cumsum(kMatrix, -1, {.exclusive = true, .reverse = true}), {3, 4},
               {6, 7, 5, 0, 3, -1, 1, 0, 3.25, 3, 6, 0});
  check_tensor(cumsum(kCube, 1), {2, 3, 4},
               {-2, -1.75, -1.5, -1.25, -3, -2.5, -2, -1.5, -3, -2.25, -1.5, -0.75,
                1,  1.25,  1.5,  1.75,  3,  3.5,  4,  4.5,  6,  6.75,  7.5,  8.25});
  check_tensor(cumsum(kIntegers), {5}, {5, 8, 17, 20, 21});
}

TEST_CASE("running products follow TensorFlow", "[ops][cumulative]") {
  check_tensor(cumprod(kMatrix, 0, {.exclusive = false, .reverse = false}), {3, 4},
               {3, -1, 2, 5, 1.5, -4, -4, 5, 3.75, -1, 12, 30});
  check_tensor(cumprod(kMatrix, 0, {.exclusive = false, .reverse = true}), {3, 4},
               {3.75, -1, 12, 30, 1.25, 1, 6, 6, 2.5, 0.25, -3, 6});
  check_tensor(cumprod(kMatrix, 0, {.exclusive = true, .reverse = false}), {3, 4},
               {1, 1, 1, 1, 3, -1, 2, 5, 1.5, -4, -4, 5});
  check_tensor(cumprod(kMatrix, 0, {.exclusive = true, .reverse = true}), {3, 4},
               {1.25, 1, 6, 6, 2.5, 0.25, -3, 6, 1, 1, 1, 1});
  check_tensor(cumprod(kMatrix, -1, {.exclusive = false, .reverse = false}), {3, 4},
               {3, -3, -6, -30, 0.5, 2, -4, -4, 2.5, 0.625, -1.875, -11.25});
  check_tensor(cumprod(kMatrix, -1, {.exclusive = false, .reverse = true}), {3, 4},
               {-30, -10, 10, 5, -4, -8, -2, 1, -11.25, -4.5, -18, 6});
  check_tensor(cumprod(kMatrix, -1, {.exclusive = true, .reverse = false}), {3, 4},
               {1, 3, -3, -6, 1, 0.5, 2, -4, 1, 2.5, 0.625, -1.875});
  check_tensor(cumprod(kMatrix, -1, {.exclusive = true, .reverse = true}), {3, 4},
               {-10, 10, 5, 1, -8, -2, 1, 1, -4.5, -18, 6, 1});
}

TEST_CASE("gradients of running sums and products", "[ops][cumulative]") {
  for (bool exclusive : {false, true})
    for (bool reverse : {false, true})
      for (int axis : {0, 1}) {
        const CumulativeOptions options{exclusive, reverse};
        check_gradient([=](const auto& in) { return cumsum(in[0], axis, options); }, {kMatrix},
                       {.second = true});
        check_gradient([=](const auto& in) { return cumprod(in[0] * 0.5f, axis, options); },
                       {kMatrix}, {.tolerance = 1e-2});
      }
}

TEST_CASE("running sums refuse what they cannot add", "[ops][cumulative]") {
  CHECK_THROWS_AS(cumsum(Tensor{true, false}), InvalidArgumentError);
  CHECK_THROWS_AS(cumprod(kMatrix, 2), InvalidArgumentError);
}
