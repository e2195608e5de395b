#include <distribute/base/error.hpp>
#include <distribute/ops/reduce.hpp>

#include "ops_support.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;
using namespace distribute_test;

TEST_CASE("sums of segments follow TensorFlow", "[ops][segment]") {
  check_tensor(unsorted_segment_sum(kMatrix, Tensor{int32_t{2}, int32_t{0}, int32_t{2}}, 4), {4, 4},
               {0.5, 4, -2, 1, 0, 0, 0, 0, 5.5, -0.75, -1, 11, 0, 0, 0, 0});
  check_tensor(unsorted_segment_sum(kMatrix, Tensor{int64_t{1}, int64_t{-1}, int64_t{0}}, 2),
               {2, 4}, {2.5, 0.25, -3, 6, 3, -1, 2, 5});
  check_tensor(segment_sum(kMatrix, Tensor{int32_t{0}, int32_t{0}, int32_t{2}}), {3, 4},
               {3.5, 3, 0, 6, 0, 0, 0, 0, 2.5, 0.25, -3, 6});
}

TEST_CASE("scattering follows TensorFlow", "[ops][segment]") {
  check_tensor(
      scatter_nd(Tensor({3, 1}, std::vector<int32_t>{4, 1, 4}), Tensor{1.0f, 2.0f, 3.0f}, {6}), {6},
      {0, 2, 0, 0, 4, 0});
  check_tensor(scatter_nd(Tensor({3, 1}, std::vector<int64_t>{1, 0, 1}), kMatrix, {2, 4}), {2, 4},
               {0.5, 4, -2, 1, 5.5, -0.75, -1, 11});
  check_tensor(
      scatter_nd(Tensor({2, 2}, std::vector<int32_t>{0, 2, 1, 0}), Tensor{5.0f, 7.0f}, {2, 3}),
      {2, 3}, {0, 0, 5, 7, 0, 0});
}

TEST_CASE("a tensor with scattered updates follows TensorFlow", "[ops][segment]") {
  const Tensor x{1.0f, 2.0f, 3.0f, 4.0f}, updates{9.0f, -5.0f, 3.5f};
  const Tensor places({3, 1}, std::vector<int32_t>{1, 3, 1});
  check_tensor(tensor_scatter_nd_update(x, places, updates), {4}, {1, 3.5, 3, -5});
  check_tensor(tensor_scatter_nd_add(x, places, updates), {4}, {1, 14.5, 3, -1});
  check_tensor(tensor_scatter_nd_sub(x, places, updates), {4}, {1, -10.5, 3, 9});
  check_tensor(tensor_scatter_nd_min(x, places, updates), {4}, {1, 2, 3, -5});
  check_tensor(tensor_scatter_nd_max(x, places, updates), {4}, {1, 9, 3, 4});
  CHECK(x.to_vector() == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("a tensor with scattered updates has derivatives", "[ops][segment]") {
  const Tensor places({2, 1}, std::vector<int32_t>{1, 0});
  const Tensor updates({2, 4}, std::vector<float>{1.5f, 2, -1, 0.5f, 4, -3, 2.5f, 1});
  for (auto* scatter : {tensor_scatter_nd_update, tensor_scatter_nd_add, tensor_scatter_nd_sub,
                        tensor_scatter_nd_min, tensor_scatter_nd_max})
    check_gradient([&](const auto& in) { return scatter(in[0] * in[0], places, in[1] * in[1]); },
                   {kMatrix, updates}, {.second = true});
}

TEST_CASE("gradients of segments and scattered updates", "[ops][segment]") {
  const Tensor ids{int32_t{1}, int32_t{-1}, int32_t{1}};
  check_gradient([&](const auto& in) { return unsorted_segment_sum(in[0] * in[0], ids, 2); },
                 {kMatrix});
  const Tensor indices({3, 1}, std::vector<int32_t>{1, 0, 1});
  check_gradient(
      [&](const auto& in) {
        return scatter_nd(indices, in[0] * in[0], {2, 4});
      },
      {kMatrix});
}

TEST_CASE("segments and scattered updates that do not fit are an error", "[ops][segment]") {
  const Tensor ids{int32_t{1}, int32_t{0}, int32_t{2}};
  CHECK_THROWS_AS(segment_sum(kMatrix, ids), InvalidArgumentError);
  CHECK_THROWS_AS(unsorted_segment_sum(kMatrix, ids, 2), InvalidArgumentError);
  CHECK_THROWS_AS(unsorted_segment_sum(kCube, ids, 3), InvalidArgumentError);
  CHECK_THROWS_AS(segment_sum(kMatrix, Tensor{1.0f, 1.0f, 1.0f}), InvalidArgumentError);
  const Tensor places({1, 1}, std::vector<int32_t>{7});
  CHECK_THROWS_AS(scatter_nd(places, Tensor{1.0f}, {6}), InvalidArgumentError);
  CHECK_THROWS_AS(scatter_nd(places, kTies, {9}), InvalidArgumentError);
  CHECK_THROWS_AS(tensor_scatter_nd_add(kTies, places, Tensor{1.0f}), InvalidArgumentError);
  const Tensor first({1, 1}, std::vector<int32_t>{0});
  CHECK_THROWS_WITH(tensor_scatter_nd_max(kTies, first, Tensor{int32_t{1}}),
                    "tensor_scatter_nd_max: wanted updates float32 [1], got int32 [1]");
}
