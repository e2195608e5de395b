#include <distribute/base/error.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/math.hpp>

#include "ops_support.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("sorting follows TensorFlow", "[ops][sort]") {
  check_tensor(sort(kMatrix), {3, 4}, {-1, 2, 3, 5, -2, 0.5, 1, 4, -3, 0.25, 2.5, 6});
  check_tensor(sort(kMatrix, 0), {3, 4}, {0.5, -1, -3, 1, 2.5, 0.25, -2, 5, 3, 4, 2, 6});
  check_tensor(sort(kMatrix, -1, SortDirection::Descending), {3, 4},
               {5, 3, 2, -1, 4, 1, 0.5, -2, 6, 2.5, 0.25, -3});
  check_tensor(sort(kCube * kCube, 1, SortDirection::Descending), {2, 3, 4},
               {4, 3.0625,  2.25,  1.5625,  1, 0.5625, 0.25, 0.5625, 0, 0.0625, 0.25, 0.0625,
                9, 10.5625, 12.25, 14.0625, 4, 5.0625, 6.25, 7.5625, 1, 1.5625, 2.25, 3.0625});
  check_tensor(sort(kIntegers), {5}, {1, 3, 3, 5, 9});
  check_tensor(argsort(kMatrix), {3, 4}, {1, 2, 0, 3, 2, 0, 3, 1, 2, 1, 0, 3});
  check_tensor(argsort(kMatrix, 0), {3, 4}, {1, 0, 2, 1, 2, 2, 1, 0, 0, 1, 0, 2});
  check_tensor(argsort(kTies), {5}, {1, 3, 4, 2, 0});
  check_tensor(argsort(kTies, -1, SortDirection::Descending), {5}, {0, 2, 4, 1, 3});
  check_tensor(argsort(kIntegers), {5}, {4, 1, 3, 0, 2});
}

TEST_CASE("the gradient of sorting goes back to where values came from", "[ops][sort]") {
  check_gradient([](const auto& in) { return sort(in[0], 0) * sort(in[0], 0); }, {kMatrix});
  check_gradient([](const auto& in) { return sort(in[0], -1, SortDirection::Descending); },
                 {kMatrix});
  CHECK_THROWS_AS(sort(kMatrix, 2), InvalidArgumentError);
}
