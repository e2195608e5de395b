#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/ops/array.hpp>

#include "support/catch.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;

TEST_CASE("reshape shares memory and infers one size", "[ops][reshape]") {
  const Tensor x = test_tensor({2, 3, 4});
  const Tensor y = reshape(x, {-1, 6});
  CHECK(y.shape() == Shape{4, 6});
  CHECK(y.data<float>().data() == x.data<float>().data());
  CHECK(reshape(x, {24}).shape() == Shape{24});
  CHECK(reshape(x, Shape{4, 3, 2}).to_vector() == x.to_vector());
  CHECK(reshape(Tensor(1.0f), {1, 1}).shape() == Shape{1, 1});
  CHECK(reshape(zeros({0, 3}), {-1, 3}).shape() == Shape{0, 3});
}

TEST_CASE("reshape says which shapes do not fit", "[ops][reshape]") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_AS(reshape(x, {4, 2}), InvalidArgumentError);
  CHECK_THROWS_AS(reshape(x, {-1, 4}), InvalidArgumentError);
  CHECK_THROWS_WITH(reshape(x, {-1, -1}), "reshape: [2, 3] cannot become [-1, -1]");
}

TEST_CASE("expand_dims and squeeze are each other's inverse", "[ops][reshape]") {
  const Tensor x = zeros({2, 3});
  CHECK(expand_dims(x, 0).shape() == Shape{1, 2, 3});
  CHECK(expand_dims(x, -1).shape() == Shape{2, 3, 1});
  CHECK(expand_dims(x, 1).shape() == Shape{2, 1, 3});
  CHECK(squeeze(zeros({1, 2, 1, 3})).shape() == Shape{2, 3});
  CHECK(squeeze(zeros({1, 2, 1, 3}), {-2}).shape() == Shape{1, 2, 3});
  CHECK_THROWS_AS(squeeze(x, {0}), InvalidArgumentError);
  CHECK_THROWS_AS(expand_dims(x, 3), InvalidArgumentError);
}

TEST_CASE("flatten keeps the batch axis", "[ops][reshape]") {
  CHECK(flatten(zeros({5, 4, 3, 2})).shape() == Shape{5, 24});
  CHECK(flatten(zeros({5})).shape() == Shape{5, 1});
  CHECK(flatten(zeros({0, 4, 3})).shape() == Shape{0, 12});
  CHECK_THROWS_AS(flatten(Tensor(1.0f)), InvalidArgumentError);
}

TEST_CASE("gradients pass through changes of shape", "[ops][reshape]") {
  check_gradient([](auto& in) { return reshape(in[0], {3, -1}); }, {test_tensor({2, 3})});
  check_gradient([](auto& in) { return flatten(expand_dims(in[0], 1)); }, {test_tensor({2, 3})});
}
