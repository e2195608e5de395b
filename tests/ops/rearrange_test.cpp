#include <distribute/base/error.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/math.hpp>

#include "ops_support.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;
using namespace distribute_test;

namespace {
const Tensor kRows{true, false, true};
}  // namespace

TEST_CASE("reversing and rolling follow TensorFlow", "[ops][rearrange]") {
  check_tensor(reverse(kMatrix, {0}), {3, 4}, {2.5, 0.25, -3, 6, 0.5, 4, -2, 1, 3, -1, 2, 5});
  check_tensor(reverse(kCube, {0, -1}), {2, 3, 4},
               {1.75,  1.5,  1.25,  1,  2.75,  2.5,  2.25,  2,  3.75, 3.5, 3.25, 3,
                -1.25, -1.5, -1.75, -2, -0.25, -0.5, -0.75, -1, 0.75, 0.5, 0.25, 0});
  check_tensor(roll(kMatrix, 1, 0), {3, 4}, {2.5, 0.25, -3, 6, 3, -1, 2, 5, 0.5, 4, -2, 1});
  check_tensor(roll(kMatrix, -3, -1), {3, 4}, {5, 3, -1, 2, 1, 0.5, 4, -2, 6, 2.5, 0.25, -3});
  check_tensor(roll(kMatrix, 9, 1), {3, 4}, {5, 3, -1, 2, 1, 0.5, 4, -2, 6, 2.5, 0.25, -3});
  check_tensor(roll(kCube, {1, -2, 1}, {0, 2, 1}), {2, 3, 4},
               {3.5, 3.75, 3, 3.25, 1.5,  1.75,  1,  1.25,  2.5,  2.75,  2,  2.25,
                0.5, 0.75, 0, 0.25, -1.5, -1.25, -2, -1.75, -0.5, -0.25, -1, -0.75});
}

TEST_CASE("repeating follows TensorFlow", "[ops][rearrange]") {
  check_tensor(repeat(kTies, 2), {10}, {4, 4, 1, 1, 3, 3, 1, 1, 2, 2});
  check_tensor(repeat(kMatrix, 2, 0), {6, 4}, {3,   -1, 2,  5, 3,   -1,   2,  5, 0.5, 4,    -2, 1,
                                               0.5, 4,  -2, 1, 2.5, 0.25, -3, 6, 2.5, 0.25, -3, 6});
  check_tensor(repeat(kMatrix, {1, 0, 2, 1}, 1), {3, 4},
               {3, 2, 2, 5, 0.5, -2, -2, 1, 2.5, -3, -3, 6});
  check_tensor(repeat(kIntegers, {2, 0, 1, 0, 3}, 0), {6}, {5, 5, 9, 1, 1, 1});
}

TEST_CASE("masks choose as in TensorFlow", "[ops][rearrange]") {
  check_tensor(boolean_mask(kMatrix, greater(kMatrix, Tensor(1.0f))), {6}, {3, 2, 5, 4, 2.5, 6});
  check_tensor(boolean_mask(kMatrix, kRows), {2, 4}, {3, -1, 2, 5, 2.5, 0.25, -3, 6});
  check_tensor(
      boolean_mask(kCube, kRows, 1), {2, 2, 4},
      {-2, -1.75, -1.5, -1.25, 0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 3, 3.25, 3.5, 3.75});
  check_tensor(boolean_mask(kCube, greater(kMatrix, Tensor(1.0f)), 1), {2, 6},
               {-2, -1.5, -1.25, -0.75, 0, 0.75, 1, 1.5, 1.75, 2.25, 3, 3.75});
}

TEST_CASE("bands of matrices follow TensorFlow", "[ops][rearrange]") {
  check_tensor(linalg::band_part(kMatrix, 0, -1), {3, 4}, {3, -1, 2, 5, 0, 4, -2, 1, 0, 0, -3, 6});
  check_tensor(linalg::band_part(kMatrix, -1, 0), {3, 4},
               {3, 0, 0, 0, 0.5, 4, 0, 0, 2.5, 0.25, -3, 0});
  check_tensor(linalg::band_part(kCube, 1, 1), {2, 3, 4},
               {-2, -1.75, 0, 0, -1, -0.75, -0.5, 0, 0, 0.25, 0.5, 0.75,
                1,  1.25,  0, 0, 2,  2.25,  2.5,  0, 0, 3.25, 3.5, 3.75});
  check_tensor(
      linalg::band_part(kCube, 0, 0), {2, 3, 4},
      {-2, 0, 0, 0, 0, -0.75, 0, 0, 0, 0, 0.5, 0, 1, 0, 0, 0, 0, 2.25, 0, 0, 0, 0, 3.5, 0});
}

TEST_CASE("gradients of rearranged elements", "[ops][rearrange]") {
  const auto check = [](auto fn) {
    check_gradient([=](const auto& in) { return fn(in[0]) * fn(in[0]); }, {kMatrix});
  };
  check([](const Tensor& x) { return reverse(x, {1}); });
  check([](const Tensor& x) { return roll(x, 2, 1); });
  check([](const Tensor& x) { return repeat(x, {1, 0, 3, 2}, 1); });
  check([](const Tensor& x) { return boolean_mask(x, kRows); });
  check([](const Tensor& x) { return linalg::band_part(x, 0, 1); });
}

TEST_CASE("rearranging refuses what does not fit", "[ops][rearrange]") {
  CHECK_THROWS_AS(reverse(kMatrix, {0, -2}), InvalidArgumentError);
  CHECK_THROWS_AS(roll(kMatrix, {1, 2}, {0}), InvalidArgumentError);
  CHECK_THROWS_AS(repeat(kMatrix, {1, 2, 3}, 1), InvalidArgumentError);
  CHECK_THROWS_AS(repeat(kMatrix, -1, 1), InvalidArgumentError);
  CHECK_THROWS_AS(boolean_mask(kMatrix, kRows, 1), InvalidArgumentError);
  CHECK_THROWS_AS(boolean_mask(kMatrix, kMatrix), InvalidArgumentError);
  CHECK_THROWS_AS(linalg::band_part(kTies, 0, 0), InvalidArgumentError);
}
