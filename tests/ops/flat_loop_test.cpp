#include <distribute/ops/detail/flat_loop.hpp>

#include "../support/check_close.hpp"
#include "../support/gradient_check.hpp"

using namespace distribute;
using namespace distribute::ops_internal;

namespace {

/// y = scale x^3: a row with a parameter.
struct Cube : FromInput {
  float scale = 1;
  float value(float x) const { return scale * x * x * x; }
  float slope(float x) const { return 3 * scale * x * x; }
  float curve(float x) const { return 6 * scale * x; }
};

Cube cube(float scale) {
  Cube result;
  result.scale = scale;
  return result;
}

Tensor slope(const Tensor& dy, const Tensor& x) {
  return unary_slope("cube", dy, x, kUnaryFunction<Cube>, RowNumbers(cube(1)));
}

}  // namespace

TEST_CASE("a row with a parameter becomes an operation", "[ops][flat_loop]") {
  const Tensor x{-1.0f, 2.0f};
  CHECK(unary("cube", x, cube(2)).to_vector() == std::vector<float>{-2, 16});
  check_gradient([](auto& in) { return unary("cube", in[0], cube(0.5f)); }, {x}, {.second = true});
}

TEST_CASE("a loop covers every element of large 16-bit tensors", "[ops][flat_loop]") {
  const Tensor x = fill({30000}, 2, DType::BFloat16);
  CHECK(unary("cube", x, cube(1)).to_vector() == std::vector<float>(30000, 8.0f));
}

TEST_CASE("pair loops bring the first operand into the second's layout", "[ops][flat_loop]") {
  const Tensor dy = test_tensor({4, 5}, 1), x = test_tensor({4, 5}, 2);
  const auto wanted = slope(dy, x).to_vector();
  const Tensor mixed = slope(dy, reversed(x));
  CHECK(mixed.layout());
  CHECK(mixed.to_vector() == wanted);
  CHECK(slope(reversed(dy), x).to_vector() == wanted);
}

TEST_CASE("loops name operation, shapes and dtypes that do not fit", "[ops][flat_loop]") {
  CHECK_THROWS_WITH(unary("cube", Tensor{1, 2}, cube(1)),
                    "cube: wants a floating dtype, got int32 [2]");
  CHECK_THROWS_WITH(slope(zeros({2}), zeros({3})), "cube: [2] float32 and [3] float32");
}
