#include <distribute/ops/array.hpp>

#include "support/catch.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;

TEST_CASE("concat joins along any axis", "[ops][concat]") {
  const Tensor a({2, 2}, std::vector<float>{1, 2, 3, 4}), b({2, 1}, std::vector<float>{5, 6});
  CHECK(concat({a, b}, 1).to_vector() == std::vector<float>{1, 2, 5, 3, 4, 6});
  CHECK(concat({a, a}, 0).shape() == Shape{4, 2});
  CHECK(concat({a, zeros({2, 0}), b}, -1).shape() == Shape{2, 3});
  CHECK(concat({a}, 0).to_vector() == a.to_vector());
}

TEST_CASE("concat shows shapes and types that do not fit", "[ops][concat]") {
  const Tensor a = zeros({2, 2});
  CHECK_THROWS_WITH(concat({a, zeros({3, 3})}, 1),
                    "concat: along axis 1: [2, 2] float32 and [3, 3] float32");
  CHECK_THROWS_AS(concat({a, zeros({2, 2}, DType::Int32)}, 0), InvalidArgumentError);
  CHECK_THROWS_AS(concat({a, zeros({2})}, 0), InvalidArgumentError);
  CHECK_THROWS_AS(concat(std::vector<Tensor>{}, 0), InvalidArgumentError);
  CHECK_THROWS_AS(concat({a, a}, 2), InvalidArgumentError);
}

TEST_CASE("stack and unstack are each other's inverse", "[ops][concat]") {
  const Tensor a{1.0f, 2.0f}, b{3.0f, 4.0f};
  CHECK(stack({a, b}).to_vector() == std::vector<float>{1, 2, 3, 4});
  const Tensor columns = stack({a, b}, -1);
  CHECK(columns.to_vector() == std::vector<float>{1, 3, 2, 4});
  const auto parts = unstack(columns, 1);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].shape() == Shape{2});
  CHECK(parts[1].to_vector() == b.to_vector());
  CHECK_THROWS_AS(stack({a, zeros({3})}), InvalidArgumentError);
}

TEST_CASE("split cuts into equal parts or given sizes", "[ops][concat]") {
  const Tensor x({2, 4}, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  const auto halves = split(x, 2, 1);
  REQUIRE(halves.size() == 2);
  CHECK(halves[1].to_vector() == std::vector<float>{3, 4, 7, 8});
  const auto parts = split(x, {1, -1}, 1);
  CHECK(parts[0].shape() == Shape{2, 1});
  CHECK(parts[1].to_vector() == std::vector<float>{2, 3, 4, 6, 7, 8});
  CHECK_THROWS_AS(split(x, 3, 1), InvalidArgumentError);
  CHECK_THROWS_AS(split(x, {1, 1}, 1), InvalidArgumentError);
  CHECK_THROWS_AS(split(x, {-1, -1}, 1), InvalidArgumentError);
  CHECK_THROWS_AS(split(x, {5, -1}, 1), InvalidArgumentError);
}

TEST_CASE("tile repeats every axis", "[ops][concat]") {
  const Tensor x({1, 2}, std::vector<float>{1, 2});
  CHECK(tile(x, {2, 2}).to_vector() == std::vector<float>{1, 2, 1, 2, 1, 2, 1, 2});
  CHECK(tile(x, {1, 0}).shape() == Shape{1, 0});
  CHECK_THROWS_AS(tile(x, {2}), InvalidArgumentError);
  CHECK_THROWS_AS(tile(x, {2, -1}), InvalidArgumentError);
}

TEST_CASE("gradients of joins and splits", "[ops][concat]") {
  const Tensor a = test_tensor({2, 3}, 1), b = test_tensor({2, 2}, 2);
  check_gradient([](auto& in) { return concat({in[0], in[1]}, 1); }, {a, b});
  check_gradient([](auto& in) { return stack({in[0], in[0]}, 1); }, {a});
  check_gradients([](auto& in) { return split(in[0], {1, 2}, 1); }, {a});
  check_gradient([](auto& in) { return split(in[0], {1, 2}, 1)[1]; }, {a});
  check_gradients([](auto& in) { return unstack(in[0], 0); }, {a});
  check_gradient([](auto& in) { return tile(in[0], {2, 3}); }, {a});
}

TEST_CASE("broadcast_to repeats axes of size one", "[ops][concat]") {
  const Tensor x({2, 1}, std::vector<int32_t>{1, 2});
  CHECK(broadcast_to(x, {2, 2, 2}).to_vector() == std::vector<float>{1, 1, 2, 2, 1, 1, 2, 2});
  CHECK_THROWS_AS(broadcast_to(x, {3, 2}), InvalidArgumentError);
  check_gradient([](auto& in) { return broadcast_to(in[0], {2, 2, 3}); }, {test_tensor({2, 1})});
}
