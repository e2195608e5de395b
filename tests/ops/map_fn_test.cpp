#include <distribute/base/error.hpp>
#include <distribute/ops/map_fn.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include "ops_support.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("mapping and scanning follow TensorFlow", "[ops][map_fn]") {
  check_tensor(map_fn([](const Tensor& row) { return reduce_sum(row * row); }, kMatrix), {3},
               {39, 21.25, 51.3125});
  check_tensor(map_fn([](const std::vector<Tensor>& in) { return in[0] - 2.0f * in[1]; },
                      {kMatrix, kMatrix * kMatrix}),
               {3, 4}, {-15, -3, -6, -45, 0, -28, -10, -1, -10, 0.125, -21, -66});
  check_tensor(scan([](const Tensor& a, const Tensor& b) { return 0.5f * a + b; }, kMatrix), {3, 4},
               {3, -1, 2, 5, 2, 3.5, -1, 3.5, 3.5, 2, -3.5, 7.75});
  check_tensor(scan([](const Tensor& a, const Tensor& b) { return a + reduce_sum(b); }, kMatrix,
                    Tensor(1.0f)),
               {3}, {10, 13.5, 19.25});
}

TEST_CASE("gradients pass through mapped and scanned functions", "[ops][map_fn]") {
  check_gradient(
      [](const auto& in) { return map_fn([](const Tensor& row) { return row * row; }, in[0]); },
      {kMatrix});
  check_gradient(
      [](const auto& in) {
        return scan([](const Tensor& a, const Tensor& b) { return a * b; }, in[0]);
      },
      {kMatrix});
}

TEST_CASE("mapping refuses tensors without slices", "[ops][map_fn]") {
  const auto same = [](const Tensor& x) { return x; };
  CHECK_THROWS_AS(map_fn(same, Tensor(1.0f)), InvalidArgumentError);
  CHECK_THROWS_AS(map_fn(same, zeros({0, 2})), InvalidArgumentError);
  const auto first = [](const std::vector<Tensor>& in) { return in[0]; };
  CHECK_THROWS_AS(map_fn(first, {kMatrix, kCube}), InvalidArgumentError);
}
