#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/ops/slicing.hpp>

#include "support/catch.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;

namespace {
Tensor ids(const Shape& shape, std::vector<int32_t> values) { return {shape, values}; }
}  // namespace

TEST_CASE("gather takes slices of an axis", "[ops][gather]") {
  const Tensor x({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(gather(x, ids({2}, {2, 0})).to_vector() == std::vector<float>{5, 6, 1, 2});
  const Tensor columns = gather(x, ids({1, 3}, {1, 1, 0}), 1);
  CHECK(columns.shape() == Shape{3, 1, 3});
  CHECK(columns.to_vector() == std::vector<float>{2, 2, 1, 4, 4, 3, 6, 6, 5});
  CHECK(gather(x, ids({}, {1})).to_vector() == std::vector<float>{3, 4});
  CHECK(gather(x, ids({0}, {})).shape() == Shape{0, 2});
  CHECK(gather(Tensor{true, false}, Tensor(Shape{2}, std::vector<int64_t>{1, 0})).to_vector() ==
        std::vector<float>{0, 1});
}

TEST_CASE("an index out of range is named with its position", "[ops][gather]") {
  const Tensor x = zeros({3, 2});
  CHECK_THROWS_WITH(gather(x, ids({2, 2}, {0, 1, 2, 3})),
                    "gather: indices[1, 1] = 3 is not in [0, 3)");
  CHECK_THROWS_WITH(nn::embedding_lookup(x, ids({2}, {0, -1})),
                    "embedding_lookup: indices[1] = -1 is not in [0, 3)");
  CHECK_THROWS_AS(gather(x, zeros({2})), InvalidArgumentError);
}

TEST_CASE("the gradient of an embedding lookup stays sparse", "[ops][gather]") {
  const Tensor table = test_tensor({5, 2});
  WatchingTape tape({table});
  const Tensor y = nn::embedding_lookup(table, ids({2, 2}, {4, 1, 1, 1}));
  CHECK(y.shape() == Shape{2, 2, 2});
  const Tensor gradient = tape.gradient(y, table);
  REQUIRE(is_indexed_slices(gradient));
  const IndexedSlices slices = indexed_slices(gradient);
  CHECK(slices.values.shape() == Shape{4, 2});
  CHECK(slices.indices.to_vector() == std::vector<float>{4, 1, 1, 1});
  CHECK(gradient.to_vector() == std::vector<float>{0, 0, 3, 3, 0, 0, 0, 0, 1, 1});
}

TEST_CASE("gradients of gather", "[ops][gather]") {
  const Tensor x = test_tensor({3, 4, 2});
  check_gradient([](auto& in) { return gather(in[0], ids({2, 2}, {0, 2, 2, 1}), 0); }, {x});
  check_gradient([](auto& in) { return gather(in[0], ids({3}, {3, 3, 0}), 1); }, {x});
  check_gradient([](auto& in) { return gather(in[0], ids({3}, {1, 1, 0}), -1); }, {x});
}

TEST_CASE("one_hot marks each index", "[ops][gather]") {
  CHECK(one_hot(ids({2}, {2, 0}), 3).to_vector() == std::vector<float>{0, 0, 1, 1, 0, 0});
  CHECK(one_hot(ids({2}, {1, 7}), 2, 5, -1).to_vector() == std::vector<float>{-1, 5, -1, -1});
  const Tensor first = one_hot(ids({2}, {2, 0}), 3, 1, 0, 0, DType::Int32);
  CHECK(first.shape() == Shape{3, 2});
  CHECK(first.dtype() == DType::Int32);
  CHECK(first.to_vector() == std::vector<float>{0, 1, 0, 0, 1, 0});
  CHECK_THROWS_AS(one_hot(zeros({2}), 3), InvalidArgumentError);
}

// The numbers of gather_nd were printed by TensorFlow 2.21.
TEST_CASE("gather_nd takes what tuples of indices name", "[ops][gather]") {
  using Values = std::vector<float>;
  const Tensor params(Shape{2, 3}, Values{1, 2, 3, 4, 5, 6});
  const auto indices = [](const Shape& shape, std::vector<int64_t> values) {
    return Tensor(shape, values);
  };
  CHECK(gather_nd(params, indices({2, 2}, {0, 1, 1, 2})).to_vector() == Values{2, 6});
  const Tensor nested = gather_nd(params, indices({2, 1, 2}, {0, 1, 1, 2}));
  CHECK(nested.shape() == Shape{2, 1});
  const Tensor rows = gather_nd(params, indices({2, 1}, {1, 0}));
  CHECK(rows.shape() == Shape{2, 3});
  CHECK(rows.to_vector() == Values{4, 5, 6, 1, 2, 3});
  CHECK(gather_nd(params, zeros({2, 0}, DType::Int32)).shape() == Shape{2, 2, 3});
  CHECK_THROWS_WITH(gather_nd(params, indices({1, 2}, {0, 3})),
                    Contains("indices[0] = [0, 3] does not index into shape [2, 3]"));
}

TEST_CASE("a variable's gather_nd has a dense gradient, its sparse_read a sparse one",
          "[ops][gather]") {
  using Values = std::vector<float>;
  const Variable v(Tensor(Shape{2, 3}, Values{1, 2, 3, 4, 5, 6}));
  GradientTape tape;
  const Tensor picked = v.gather_nd(Tensor(Shape{3, 2}, std::vector<int64_t>{0, 1, 0, 1, 1, 0}));
  const Tensor gradient = tape.gradient(reduce_sum(picked * Tensor{1.0f, 2.0f, 3.0f}), v);
  CHECK_FALSE(is_indexed_slices(gradient));
  CHECK(gradient.to_vector() == Values{0, 3, 0, 3, 0, 0});
  GradientTape other;
  const Tensor rows = v.sparse_read(Tensor(Shape{2}, std::vector<int64_t>{1, 1}));
  CHECK(rows.to_vector() == Values{4, 5, 6, 4, 5, 6});
  const Tensor sparse = other.gradient(reduce_sum(rows * 2.0f), v);
  CHECK(is_indexed_slices(sparse));
  CHECK(sparse.to_vector() == Values{0, 0, 0, 4, 4, 4});
}
