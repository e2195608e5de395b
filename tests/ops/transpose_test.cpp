#include <distribute/ops/array.hpp>

#include "support/catch.hpp"
#include "support/gradient_check.hpp"

using namespace distribute;

TEST_CASE("transpose moves elements to their new axes", "[ops][transpose]") {
  const Tensor x({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(transpose(x).to_vector() == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(transpose(x, {0, 1}).to_vector() == x.to_vector());
  CHECK(transpose(Tensor(3.0f)).item<float>() == 3);
}

TEST_CASE("transpose of any rank and type agrees with index arithmetic", "[ops][transpose]") {
  const Shape shape{3, 70, 5, 41};
  std::vector<int64_t> values(size_t(shape.num_elements()));
  std::iota(values.begin(), values.end(), 0);
  const Tensor y = transpose(Tensor(shape, values), {2, 3, 0, -3});
  REQUIRE(y.shape() == Shape{5, 41, 3, 70});
  const auto data = y.data<int64_t>();
  bool same = true;
  for (int64_t i = 0, a = 0; a < 5; ++a)
    for (int64_t b = 0; b < 41; ++b)
      for (int64_t c = 0; c < 3; ++c)
        for (int64_t d = 0; d < 70; ++d)
          same &= data[size_t(i++)] == ((c * 70 + d) * 5 + a) * 41 + b;
  CHECK(same);
  const Tensor bytes({2, 2}, std::vector<uint8_t>{1, 2, 3, 4});
  CHECK(transpose(bytes).to_vector() == std::vector<float>{1, 3, 2, 4});
}

TEST_CASE("transpose refuses what is no permutation", "[ops][transpose]") {
  const Tensor x = zeros({2, 3});
  CHECK_THROWS_AS(transpose(x, {0, 0}), InvalidArgumentError);
  CHECK_THROWS_AS(transpose(x, {0}), InvalidArgumentError);
  CHECK_THROWS_AS(transpose(x, {0, 2}), InvalidArgumentError);
}

TEST_CASE("the gradient of transpose is the inverse transpose", "[ops][transpose]") {
  check_gradient([](auto& in) { return transpose(in[0], {2, 0, 1}); }, {test_tensor({2, 3, 4})});
}
