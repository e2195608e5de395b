#include <distribute/autograd/detail/scatter.hpp>

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/autograd/variable.hpp>
#include <distribute/base/error.hpp>

#include <tests/support/catch.hpp>

using namespace distribute;

namespace {

template <typename T>
IndexedSlices rows(std::vector<int64_t> indices, std::vector<T> values, int64_t width = 2) {
  const auto n = int64_t(indices.size());
  return {Tensor(Shape{n, width}, values), Tensor(Shape{n}, indices), {}};
}

Variable counted() {
  return Variable(Tensor(Shape{3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}), {.name = "v"});
}

std::vector<float> after(const Variable& (Variable::*method)(const IndexedSlices&) const,
                         const IndexedSlices& slices) {
  const Variable v = counted();
  (v.*method)(slices);
  return v.value().to_vector();
}

}  // namespace

TEST_CASE("rows of a variable are changed in every way", "[autograd][scatter]") {
  using Values = std::vector<float>;
  const IndexedSlices slices = rows<float>({2, 0}, {2, 10, 4, 0.5f});
  CHECK(after(&Variable::scatter_add, slices) == Values{5, 2.5f, 3, 4, 7, 16});
  CHECK(after(&Variable::scatter_sub, slices) == Values{-3, 1.5f, 3, 4, 3, -4});
  CHECK(after(&Variable::scatter_mul, slices) == Values{4, 1, 3, 4, 10, 60});
  CHECK(after(&Variable::scatter_div, slices) == Values{0.25f, 4, 3, 4, 2.5f, 0.6f});
  CHECK(after(&Variable::scatter_min, slices) == Values{1, 0.5f, 3, 4, 2, 6});
  CHECK(after(&Variable::scatter_max, slices) == Values{4, 2, 3, 4, 5, 10});
  CHECK(after(&Variable::scatter_update, slices) == Values{4, 0.5f, 3, 4, 2, 10});
}

TEST_CASE("a row that comes twice is changed twice, in order", "[autograd][scatter]") {
  using Values = std::vector<float>;
  const IndexedSlices twice = rows<float>({1, 1}, {1, 2, 10, 20});
  CHECK(after(&Variable::scatter_add, twice) == Values{1, 2, 14, 26, 5, 6});
  CHECK(after(&Variable::scatter_mul, twice) == Values{1, 2, 30, 160, 5, 6});
  CHECK(after(&Variable::scatter_update, twice) == Values{1, 2, 10, 20, 5, 6});
  CHECK(after(&Variable::scatter_add, rows<float>({}, {})) == Values{1, 2, 3, 4, 5, 6});
}

TEST_CASE("tensors read before a scatter keep their values", "[autograd][scatter]") {
  const Variable v = counted();
  const Tensor before = v.value();
  v.scatter_update(rows<float>({0}, {9, 9}));
  CHECK(before.to_vector()[0] == 1);
  CHECK(v.value().to_vector()[0] == 9);
  CHECK(v.value().id() != before.id());
}

TEST_CASE("scatter computes in the variable's dtype", "[autograd][scatter]") {
  const Variable whole(Tensor(Shape{2, 1}, std::vector<int64_t>{int64_t{1} << 53, 7}));
  whole.scatter_add(rows<int64_t>({0, 1}, {1, 5}, 1));
  CHECK(whole.value().data<int64_t>()[0] == (int64_t{1} << 53) + 1);
  whole.scatter_div(rows<int64_t>({1}, {5}, 1));
  CHECK(whole.value().data<int64_t>()[1] == 2);
  CHECK_THROWS_WITH(whole.scatter_div(rows<int64_t>({1}, {0}, 1)), Contains("division by zero"));
  CHECK(whole.value().data<int64_t>()[1] == 2);
  const Variable vector(Tensor{1.0f, 2.0f});
  vector.scatter_max({Tensor{5.0f}, Tensor{int64_t{1}}, {}});
  CHECK(vector.value().to_vector() == std::vector<float>{1, 5});
}

TEST_CASE("slices that do not fit change nothing", "[autograd][scatter]") {
  const Variable v = counted();
  const auto refused = [&](const IndexedSlices& slices, const char* why) {
    CHECK_THROWS_AS(v.scatter_add(slices), InvalidArgumentError);
    CHECK_THROWS_WITH(v.scatter_add(slices), Contains(why) && Contains("variable 'v'"));
  };
  refused(rows<float>({0, 3}, {1, 1, 1, 1}), "indices[1] = 3 is not in [0, 3)");
  refused(rows<float>({-1}, {1, 1}), "indices[0] = -1 is not in [0, 3)");
  refused(rows<float>({0}, {1, 1, 1}, 3), "[1, 3]");
  refused(rows<int64_t>({0}, {1, 1}), "int64");
  refused({Tensor(Shape{1, 2}, std::vector<float>{1, 1}), Tensor{1.0f}, {}}, "indices must be");
  refused({}, "no values");
  CHECK(v.value().to_vector() == std::vector<float>{1, 2, 3, 4, 5, 6});
  const Variable scalar(Tensor(1.0f));
  CHECK_THROWS_WITH(scalar.scatter_add({Tensor{1.0f}, Tensor{int64_t{0}}, {}}),
                    Contains("has no rows"));
}

// The numbers of scatter_nd were printed by TensorFlow 2.21.

namespace {

std::vector<float> after_nd(const Variable& (Variable::*method)(const Tensor&, const Tensor&)
                                const) {
  const Variable v(Tensor(Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}), {.name = "v"});
  const Tensor indices(Shape{3, 2}, std::vector<int32_t>{0, 1, 1, 2, 0, 1});
  (v.*method)(indices, Tensor{10.0f, 20.0f, 30.0f});
  return v.value().to_vector();
}

}  // namespace

TEST_CASE("tuples of indices change single elements", "[autograd][scatter]") {
  using Values = std::vector<float>;
  CHECK(after_nd(&Variable::scatter_nd_add) == Values{1, 42, 3, 4, 5, 26});
  CHECK(after_nd(&Variable::scatter_nd_sub) == Values{1, -38, 3, 4, 5, -14});
  CHECK(after_nd(&Variable::scatter_nd_update) == Values{1, 30, 3, 4, 5, 20});
  CHECK(after_nd(&Variable::scatter_nd_max) == Values{1, 30, 3, 4, 5, 20});
  CHECK(after_nd(&Variable::scatter_nd_min) == Values{1, 2, 3, 4, 5, 6});
}

TEST_CASE("short tuples change slices", "[autograd][scatter]") {
  using Values = std::vector<float>;
  const Variable v(Tensor(Shape{2, 3}, Values{1, 2, 3, 4, 5, 6}));
  const Tensor before = v.value();
  v.scatter_nd_update(Tensor(Shape{1, 2, 1}, std::vector<int64_t>{1, 0}),
                      Tensor(Shape{1, 2, 3}, Values{7, 8, 9, 1, 1, 1}));
  CHECK(v.value().to_vector() == Values{1, 1, 1, 7, 8, 9});
  CHECK(v.shape() == Shape{2, 3});
  CHECK(before.to_vector() == Values{1, 2, 3, 4, 5, 6});
  v.scatter_nd_add(zeros({0, 1}, DType::Int64), zeros({0, 3}));
  CHECK(v.value().to_vector() == Values{1, 1, 1, 7, 8, 9});
}

TEST_CASE("tuples that do not fit are named, and nothing changes", "[autograd][scatter]") {
  const Variable v(Tensor(Shape{2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}), {.name = "table"});
  const auto pair = [](int64_t i, int64_t j) {
    return Tensor(Shape{1, 2}, std::vector<int64_t>{i, j});
  };
  CHECK_THROWS_WITH(v.scatter_nd_add(pair(0, 3), Tensor{1.0f}),
                    Contains("indices[0] = [0, 3] does not index into shape [2, 3]"));
  CHECK_THROWS_WITH(v.scatter_nd_add(pair(-1, 0), Tensor{1.0f}), Contains("[-1, 0]"));
  CHECK_THROWS_WITH(v.scatter_nd_add(pair(0, 1), Tensor{1.0f, 2.0f}),
                    Contains("'table'") && Contains("updates must be [1]"));
  CHECK_THROWS_AS(v.scatter_nd_add(pair(0, 1), Tensor(1.0f)), InvalidArgumentError);
  CHECK_THROWS_WITH(v.scatter_nd_sub(zeros({1, 3}, DType::Int64), Tensor{1.0f}),
                    Contains("saw: 3 vs. 2"));
  CHECK_THROWS_WITH(v.scatter_nd_sub(zeros({1, 2}), Tensor{1.0f}), Contains("int32 or int64"));
  CHECK(v.value().to_vector() == std::vector<float>{1, 2, 3, 4, 5, 6});
}
