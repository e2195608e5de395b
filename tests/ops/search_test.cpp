#include <distribute/ops/arrangement.hpp>

#include "../support/check_close.hpp"
#include "../support/gradient_check.hpp"

using namespace distribute;
using Floats = std::vector<float>;

TEST_CASE("argmax and argmin give the first of equal elements", "[ops][search]") {
  const Tensor x({2, 3}, Floats{1, 5, 5, 4, 0, 0});
  CHECK(argmax(x, 1).to_vector() == Floats{1, 0});
  CHECK(argmin(x, -1).to_vector() == Floats{0, 1});
  CHECK(argmax(x).to_vector() == Floats{1, 0, 0});
  CHECK(argmax(x).dtype() == DType::Int64);
  CHECK(argmax(Tensor{3, 9, 9}).data<int64_t>()[0] == 1);
  CHECK(argmax(x.view({2, 3, 1}), 1).shape() == Shape{2, 1});
}

TEST_CASE("top_k sorts and prefers lower indices", "[ops][search]") {
  const Tensor x({2, 4}, Floats{1, 3, 3, 2, 9, 8, 7, 9});
  const TopK top = top_k(x, 3);
  CHECK(top.values.to_vector() == Floats{3, 3, 2, 9, 9, 8});
  CHECK(top.indices.to_vector() == Floats{1, 2, 3, 0, 3, 1});
  CHECK(top.indices.dtype() == DType::Int32);
  CHECK(top_k(Tensor{4, 6}, 1).values.to_vector() == Floats{6});
  CHECK(top_k(x, 0).values.shape() == Shape{2, 0});
  check_gradient([](auto& in) { return top_k(in[0], 2).values; },
                 {Tensor({2, 3}, Floats{1, 3, 2, -1, 0, 5})});
}

TEST_CASE("in_top_k counts larger predictions", "[ops][search]") {
  const Tensor scores({4, 3},
                      Floats{.1f, .7f, .2f, .5f, .5f, .1f, .2f, .3f, .5f, std::nanf(""), 1, 2});
  CHECK(nn::in_top_k(Tensor{1, 1, 0, 1}, scores, 1).to_vector() == Floats{1, 1, 0, 0});
  CHECK(nn::in_top_k(Tensor{2, 2, 0, 0}, scores, 2).to_vector() == Floats{1, 0, 0, 0});
  CHECK(nn::in_top_k(Tensor{3, -1, 0, 2}, scores, 3).to_vector() == Floats{0, 0, 1, 0});
  CHECK_THROWS_AS(nn::in_top_k(Tensor{1}, scores, 1), InvalidArgumentError);
  CHECK_THROWS_AS(nn::in_top_k(Tensor{1.f, 1.f, 0.f, 0.f}, scores, 1), InvalidArgumentError);
}

TEST_CASE("searches refuse empty axes and too large k", "[ops][search]") {
  CHECK_THROWS_WITH(argmax(zeros({2, 0}), 1), "argmax: axis 1 of [2, 0] is empty");
  CHECK_THROWS_AS(argmax(zeros({2}), 1), InvalidArgumentError);
  CHECK_THROWS_WITH(top_k(zeros({2, 3}), 4), "top_k: wants k in [0, 3] for shape [2, 3], got 4");
  CHECK_THROWS_AS(top_k(Tensor(1.0f), 1), InvalidArgumentError);
}
