#include <distribute/ops/math.hpp>

#include <distribute/autograd/variable.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/reduce.hpp>

#include "../support/check_close.hpp"
#include "../support/gradient_check.hpp"

using namespace distribute;
using Floats = std::vector<float>;

namespace {
using Binary = Tensor (*)(const Tensor&, const Tensor&);
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
}  // namespace

TEST_CASE("binary functions give NumPy's numbers", "[ops][elementwise]") {
  const Tensor a{7.0f, -7.0f, 0.5f, 0.0f}, b{2.0f, 2.0f, -0.25f, 4.0f};
  CHECK(add(a, b).to_vector() == Floats{9, -5, 0.25f, 4});
  CHECK(subtract(a, b).to_vector() == Floats{5, -9, 0.75f, -4});
  CHECK(multiply(a, b).to_vector() == Floats{14, -14, -0.125f, 0});
  CHECK(divide(a, b).to_vector() == Floats{3.5f, -3.5f, -2, 0});
  CHECK(floordiv(a, b).to_vector() == Floats{3, -4, -2, 0});
  CHECK(floormod(a, b).to_vector() == Floats{1, 1, 0, 0});
  CHECK(maximum(a, b).to_vector() == Floats{7, 2, 0.5f, 4});
  CHECK(minimum(a, b).to_vector() == Floats{2, -7, -0.25f, 0});
  CHECK(squared_difference(a, b).to_vector() == Floats{25, 81, 0.5625f, 16});
  check_close(pow(Tensor{2.0f, 4.0f, -2.0f}, Tensor{3.0f, 0.5f, 3.0f}), {8, 2, -8});
  CHECK(divide_no_nan(a, Tensor{2.0f, 0.0f, 0.5f, 0.0f}).to_vector() == Floats{3.5f, 0, 1, 0});
}

TEST_CASE("integers round down in floordiv and wrap in sums", "[ops][elementwise]") {
  const Tensor a{7, -7, 7, -7}, b{2, 2, -2, -2};
  CHECK(floordiv(a, b).to_vector() == Floats{3, -4, -4, 3});
  CHECK(floormod(a, b).to_vector() == Floats{1, 1, -1, -1});
  CHECK(pow(Tensor{2, -3}, Tensor{10, 3}).to_vector() == Floats{1024, -27});
  CHECK(add(Tensor{uint8_t(250)}, Tensor{uint8_t(10)}).data<uint8_t>()[0] == 4);
  constexpr int64_t kLarge = int64_t{1} << 60;
  CHECK(add(Tensor{kLarge}, Tensor{int64_t{1}}).data<int64_t>()[0] == kLarge + 1);
  CHECK_THROWS_WITH(floordiv(a, Tensor(0)), "floordiv: integer division by zero");
  CHECK_THROWS_AS(floormod(a, Tensor(0)), InvalidArgumentError);
  CHECK_THROWS_AS(pow(a, Tensor(-1)), InvalidArgumentError);
  CHECK_THROWS_AS(divide(a, b), InvalidArgumentError);
}

TEST_CASE("maximum and minimum pass NaN on from either side", "[ops][elementwise]") {
  for (Binary fn : {Binary(maximum), Binary(minimum)}) {
    CHECK(std::isnan(fn(Tensor(kNan), Tensor(1.0f)).item<float>()));
    CHECK(std::isnan(fn(Tensor(1.0f), Tensor(kNan)).item<float>()));
  }
}

TEST_CASE("comparisons give bool tensors", "[ops][elementwise]") {
  const Tensor a{1.0f, 2.0f, kNan}, b{2.0f, 2.0f, kNan};
  CHECK(equal(a, b).to_vector() == Floats{0, 1, 0});
  CHECK(not_equal(a, b).to_vector() == Floats{1, 0, 1});
  CHECK(less(a, b).to_vector() == Floats{1, 0, 0});
  CHECK(less_equal(a, b).to_vector() == Floats{1, 1, 0});
  CHECK(greater(b, a).to_vector() == Floats{1, 0, 0});
  CHECK(greater_equal(a, b).to_vector() == Floats{0, 1, 0});
  CHECK(equal(a, b).dtype() == DType::Bool);
  CHECK(greater(Tensor{int64_t{1} << 60}, Tensor{(int64_t{1} << 60) - 1}).item<bool>());
  CHECK(less(Tensor{bfloat16(1.0f)}, Tensor{bfloat16(2.0f)}).item<bool>());
}

TEST_CASE("logical functions take bool tensors only", "[ops][elementwise]") {
  const Tensor a{false, false, true, true}, b{false, true, false, true};
  CHECK(logical_and(a, b).to_vector() == Floats{0, 0, 0, 1});
  CHECK(logical_or(a, b).to_vector() == Floats{0, 1, 1, 1});
  CHECK(logical_xor(a, b).to_vector() == Floats{0, 1, 1, 0});
  CHECK(logical_not(a).to_vector() == Floats{1, 1, 0, 0});
  CHECK(logical_and(a, b).dtype() == DType::Bool);
  CHECK_THROWS_WITH(logical_and(a, Tensor(1.0f)),
                    "logical_and: wants bool tensors, got bool and float32");
  CHECK_THROWS_AS(add(a, b), InvalidArgumentError);
}

TEST_CASE("shapes broadcast as in NumPy", "[ops][elementwise]") {
  // clang-format off
  const auto [left, right] = GENERATE(table<Shape, Shape>({
      {{2, 3}, {3}}, {{2, 3}, {2, 1}}, {{}, {2, 3}}, {{3, 1}, {1, 4}}, {{2, 1, 3, 1}, {4, 1, 5}},
      {{2, 3, 4}, {2, 1, 4}}, {{5, 1, 2, 2}, {5, 3, 1, 1}}, {{1, 1}, {1}}, {{2, 0, 3}, {3}},
      {{40, 50, 17}, {40, 1, 17}}}));
  // clang-format on
  const Tensor a = test_tensor(left, 1), b = test_tensor(right, 2);
  const Shape shape = broadcast_shapes("test", left, right);
  for (const bool swap : {false, true}) {
    const Tensor y = swap ? subtract(b, a) : subtract(a, b);
    REQUIRE(y.shape() == shape);
    const auto at = [&](const Tensor& x, int64_t index) {
      int64_t offset = 0, step = 1;
      for (int axis = shape.rank() - 1; axis >= 0; index /= shape[axis--]) {
        const int own = axis - (shape.rank() - x.shape().rank());
        if (own < 0) continue;
        if (x.shape()[own] != 1) offset += index % shape[axis] * step;
        step *= x.shape()[own];
      }
      return x.data<float>()[size_t(offset)];
    };
    bool same = true;
    for (int64_t i = 0; i < y.num_elements(); ++i)
      same &= y.data<float>()[size_t(i)] == (at(a, i) - at(b, i)) * (swap ? -1.0f : 1.0f);
    CHECK(same);
  }
}

TEST_CASE("large operands give the same bits for any number of threads", "[ops][elementwise]") {
  const Tensor a = test_tensor({300, 257}), b = test_tensor({257}, 2);
  const int threads = intra_op_threads();
  set_intra_op_threads(1);
  const auto alone = multiply(a, b).to_vector();
  set_intra_op_threads(4);
  CHECK(multiply(a, b).to_vector() == alone);
  set_intra_op_threads(threads);
}

TEST_CASE("operands that do not fit are named in the error", "[ops][elementwise]") {
  CHECK_THROWS_WITH(add(zeros({2, 3}), zeros({2})), "add: shapes do not broadcast: [2, 3] and [2]");
  CHECK_THROWS_WITH(multiply(zeros({2}), zeros({2}, DType::Int32)),
                    "multiply: operands have different dtypes: float32 [2] and int32 [2]");
  CHECK_THROWS_AS(add(Tensor(), Tensor(1.0f)), InvalidArgumentError);
}

TEST_CASE("a C++ number takes the tensor's dtype", "[ops][elementwise]") {
  const Tensor x{1.0f, 2.0f};
  CHECK((x * 2).to_vector() == Floats{2, 4});
  CHECK((1 - x).to_vector() == Floats{0, -1});
  CHECK((x / 2.0).to_vector() == Floats{0.5f, 1});
  CHECK((1.0f / x).to_vector() == Floats{1, 0.5f});
  CHECK((x + 1).dtype() == DType::Float32);
  CHECK((3 + Tensor{1, 2}).dtype() == DType::Int32);
  CHECK((Tensor{bfloat16(1.5f)} * 2).dtype() == DType::BFloat16);
  CHECK((Variable(x) * 2).to_vector() == Floats{2, 4});
  CHECK_THROWS_WITH((Tensor{1, 2} * 0.5), "the number 0.5 beside a tensor of dtype int32");
  CHECK_THROWS_AS((Tensor{uint8_t(1)} + 300), InvalidArgumentError);
}

TEST_CASE("16-bit floats are computed in float32", "[ops][elementwise]") {
  const Tensor a{bfloat16(1.0f), bfloat16(3.0f)}, b{bfloat16(1.0f / 256), bfloat16(0.5f)};
  CHECK((a + b).to_vector() == Floats{1, 3.5f});  // 1 + 1/256 rounds to even
  CHECK((Tensor{float16(1.0f)} + Tensor{float16(1.0f / 1024)}).to_vector() ==
        Floats{1.0f + 1.0f / 1024});
}

TEST_CASE("a common layout is kept", "[ops][elementwise]") {
  const Tensor a = test_tensor({2, 3}), b = test_tensor({2, 3}, 2);
  const Tensor y = reversed(a) * reversed(b);
  CHECK(y.layout());
  CHECK(y.to_vector() == (a * b).to_vector());
  CHECK((reversed(a) * 2).layout());
  CHECK((3 - reversed(a)).to_vector() == (3 - a).to_vector());
  CHECK((a - reversed(b)).to_vector() == (a - b).to_vector());
  CHECK((reversed(a) + Tensor{1.0f, 2.0f, 3.0f}).to_vector() ==
        (a + Tensor{1.0f, 2.0f, 3.0f}).to_vector());
  CHECK(less(reversed(a), b).to_vector() == less(a, b).to_vector());
}

TEST_CASE("where chooses and broadcasts", "[ops][elementwise]") {
  const Tensor condition({2, 1}, std::span<const bool>(std::array{true, false}));
  CHECK(where(condition, Tensor{1.0f, 2.0f}, Tensor(9.0f)).to_vector() == Floats{1, 2, 9, 9});
  CHECK(where(Tensor{true, false}, Tensor{1, 2}, Tensor{3, 4}).to_vector() == Floats{1, 4});
  CHECK_THROWS_AS(where(Tensor(1), Tensor(1), Tensor(2)), InvalidArgumentError);
  CHECK_THROWS_AS(where(Tensor(true), Tensor(1), Tensor(2.0f)), InvalidArgumentError);
}

TEST_CASE("binary functions have the gradients of their differences", "[ops][elementwise]") {
  const auto [left, right] = GENERATE(table<Shape, Shape>(
      {{{2, 3}, {2, 3}}, {{2, 3}, {3}}, {{2, 1}, {3}}, {{}, {4}}, {{3, 1, 2}, {2, 1}}}));
  // a and b keep a distance of at least 0.1, away from the kinks of maximum and floormod.
  const Tensor a = test_tensor(left, 1, 1.3f, 1.7f), b = test_tensor(right, 2, 0.8f, 1.2f);
  for (Binary fn : {Binary(add), Binary(subtract), Binary(multiply), Binary(divide),
                    Binary(divide_no_nan), Binary(maximum), Binary(minimum), Binary(pow),
                    Binary(squared_difference), Binary(floormod)}) {
    const bool kinked = fn == Binary(floormod);
    check_gradient([fn](auto& in) { return fn(in[0], in[1]); }, {a, b}, {.second = !kinked});
    check_gradient([fn](auto& in) { return fn(in[1], in[0]); }, {a, b}, {.second = !kinked});
  }
  const Tensor condition = less(test_tensor(left, 3), test_tensor(right, 4));
  check_gradient([&](auto& in) { return where(condition, in[0], in[1]); }, {a, b},
                 {.second = true});
}

TEST_CASE("equal operands of maximum give the gradient to the first", "[ops][elementwise]") {
  const Tensor a(1.0f), b(1.0f);
  WatchingTape tape({a, b});
  const auto gradients = tape.gradient(maximum(a, b), std::vector<Tensor>{a, b});
  CHECK(gradients[0].item<float>() == 1);
  CHECK(gradients[1].item<float>() == 0);
}

TEST_CASE("pow has a finite gradient at base 0", "[ops][elementwise]") {
  const Tensor base(0.0f), exponent(2.0f);
  WatchingTape tape({base, exponent});
  const auto gradients = tape.gradient(pow(base, exponent), std::vector<Tensor>{base, exponent});
  CHECK(gradients[0].item<float>() == 0);
  CHECK(gradients[1].item<float>() == 0);
}

TEMPLATE_TEST_CASE("16-bit numbers are computed with as numbers, not as tensors",
                   "[ops][elementwise]", bfloat16, float16) {
  const TestType a(3.0f), b(2.0f);
  const float results[] = {a + b, a - b, a * b, a / b};
  CHECK(std::vector<float>(results, results + 4) == Floats{5, 1, 6, 1.5f});
  static_assert(std::is_same_v<decltype(a + b), float>);
}

TEST_CASE("add_n adds tensors of one shape", "[ops][elementwise]") {
  CHECK(add_n({Tensor{1.0f, 2.0f}, Tensor{3.0f, 4.0f}, Tensor{0.5f, 0.0f}}).to_vector() ==
        std::vector{4.5f, 6.0f});
  CHECK_THROWS_AS(add_n({}), InvalidArgumentError);
  CHECK_THROWS_AS(add_n({Tensor{1.0f, 2.0f}, Tensor(1.0f)}), InvalidArgumentError);
}

TEST_CASE("tensors compare element by element by operators", "[ops][elementwise]") {
  const Tensor a{1.0f, 2.0f, 3.0f}, b{2.0f, 2.0f, 2.0f};
  const auto bits = [](const Tensor& t) {
    CHECK(t.dtype() == DType::Bool);
    return cast(t, DType::Int32).to_vector();
  };
  using Bits = std::vector<float>;
  CHECK(bits(a < b) == Bits{1, 0, 0});
  CHECK(bits(a <= b) == Bits{1, 1, 0});
  CHECK(bits(a > b) == Bits{0, 0, 1});
  CHECK(bits(a >= b) == Bits{0, 1, 1});
  CHECK(bits(a < 2) == Bits{1, 0, 0});
  CHECK(bits(2 <= a) == Bits{0, 1, 1});
  CHECK(bits(a > 2.5) == Bits{0, 0, 1});
  CHECK(bits(1 >= a) == Bits{1, 0, 0});
}
