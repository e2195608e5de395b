#include <distribute/base/error.hpp>
#include <distribute/ops/arrangement.hpp>

#include "ops_support.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("ranges, identities and masks follow TensorFlow", "[ops][range]") {
  check_tensor(range(5), {5}, {0, 1, 2, 3, 4});
  check_tensor(range(2, 11, 3), {3}, {2, 5, 8});
  check_tensor(range(5, 0, -2), {3}, {5, 3, 1});
  check_tensor(range(0.0f, 1.0f, 0.3f), {4}, {0, 0.300000012, 0.600000024, 0.900000036});
  check_tensor(range(int64_t{3}, int64_t{3}), {0}, {});
  check_tensor(linspace(-1, 2, 5), {5}, {-1, -0.25, 0.5, 1.25, 2});
  check_tensor(linspace(3, 7, 1), {1}, {3});
  check_tensor(eye(3), {3, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  check_tensor(eye(2, 3), {2, 3}, {1, 0, 0, 0, 1, 0});
  check_tensor(sequence_mask(Tensor{int32_t{1}, int32_t{3}, int32_t{0}}, 4), {3, 4},
               {1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0});
  check_tensor(sequence_mask(Tensor({2, 2}, std::vector<int64_t>{1, 2, 0, 3}), -1, DType::Float32),
               {2, 2, 3}, {1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1});
}

TEST_CASE("ranges that do not end are an error", "[ops][range]") {
  CHECK_THROWS_AS(range(1, 5, 0), InvalidArgumentError);
  CHECK_THROWS_AS(range(1, 5, -1), InvalidArgumentError);
  CHECK_THROWS_AS(linspace(0, 1, 0), InvalidArgumentError);
  CHECK_THROWS_AS(sequence_mask(Tensor{1.0f}, 2), InvalidArgumentError);
}

TEST_CASE("ranges have the dtype of their numbers", "[ops][range]") {
  CHECK(range(3).dtype() == DType::Int32);
  CHECK(range(int64_t{3}).dtype() == DType::Int64);
  CHECK(range(0.0, 1.0, 0.5).dtype() == DType::Float32);
  CHECK(sequence_mask(range(3)).dtype() == DType::Bool);
}
