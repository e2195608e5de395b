#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

#include "../support/check_close.hpp"
#include "../support/gradient_check.hpp"

using namespace distribute;
using Floats = std::vector<float>;

namespace {

struct Row {
  const char* name;
  Tensor (*fn)(const Tensor&);
  double (*reference)(double);
  float low, high;  // where gradients are checked
};

const Row kRows[] = {
    {"negative", negative, [](double x) { return -x; }, -1, 1},
    {"abs", abs, [](double x) { return std::fabs(x); }, 0.1f, 1},
    {"square", square, [](double x) { return x * x; }, -1, 1},
    {"exp", exp, [](double x) { return std::exp(x); }, -1, 1},
    {"expm1", expm1, [](double x) { return std::expm1(x); }, -1, 1},
    {"log", log, [](double x) { return std::log(x); }, 0.5f, 2},
    {"log1p", log1p, [](double x) { return std::log1p(x); }, -0.5f, 1},
    {"sqrt", sqrt, [](double x) { return std::sqrt(x); }, 0.5f, 2},
    {"rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0.5f, 2},
    {"reciprocal", reciprocal, [](double x) { return 1 / x; }, 0.5f, 2},
    {"sin", sin, [](double x) { return std::sin(x); }, -2, 2},
    {"cos", cos, [](double x) { return std::cos(x); }, -2, 2},
    {"tanh", tanh, [](double x) { return std::tanh(x); }, -2, 2},
    {"sigmoid", sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -3, 3},
    {"erf", erf, [](double x) { return std::erf(x); }, -2, 2},
};

}  // namespace

TEST_CASE("unary functions agree with double precision", "[ops][unary]") {
  for (const Row& row : kRows) {
    INFO(row.name);
    const Tensor x = test_tensor({3, 5}, 1, row.low, row.high);
    std::vector<double> wanted;
    for (float value : x.to_vector()) wanted.push_back(row.reference(double(value)));
    check_close(row.fn(x), wanted, 1e-6);
  }
}

TEST_CASE("long tensors, too, and in the last elements", "[ops][unary]") {
  for (const Row& row : kRows) {
    INFO(row.name);
    const Tensor x = test_tensor({1037}, 1, row.low, row.high), y = row.fn(x);
    for (int i = 0; i < 1037; ++i) {
      const double wanted = row.reference(double(x.data<float>()[size_t(i)]));
      // Five units in the last place.
      if (std::abs(y.data<float>()[size_t(i)] - wanted) > 6e-7 * std::abs(wanted) + 1e-40)
        FAIL("element " << i << ": " << y.data<float>()[size_t(i)] << ", wanted " << wanted);
    }
  }
}

TEST_CASE("a function and its gradient have the same bits wherever an element lies",
          "[ops][unary]") {
  const int64_t size = 67;
  const auto with_gradient = [](const Row& row, const Tensor& x) {
    WatchingTape tape({x});
    const Tensor y = row.fn(x);
    return std::pair{y.to_vector(), tape.gradient(y, x).to_vector()};
  };
  for (const Row& row : kRows) {
    INFO(row.name);
    const Tensor x = test_tensor({size}, 1, row.low, row.high);
    const auto [values, slopes] = with_gradient(row, x);
    for (int64_t begin : {1, 7, 50, 66})
      for (int64_t end : {begin + 1, (begin + size) / 2, size}) {
        const auto [some, their] = with_gradient(row, slice(x, {begin}, {end - begin}));
        CHECK(some == Floats(values.begin() + begin, values.begin() + end));
        CHECK(their == Floats(slopes.begin() + begin, slopes.begin() + end));
      }
  }
}

TEST_CASE("functions of numbers that are not ordinary are those of the C library", "[ops][unary]") {
  const float inf = std::numeric_limits<float>::infinity();
  const Floats numbers{std::nanf(""), inf, -inf, 0.0f, -0.0f, 1e30f, -1e30f, 1e-40f, -1.0f};
  const Tensor x({9}, numbers);
  for (const Row& row : kRows) {
    const Floats values = row.fn(x).to_vector();
    for (size_t i = 0; i < numbers.size(); ++i) {
      INFO(row.name << " of " << numbers[i]);
      const float wanted = float(row.reference(double(numbers[i])));
      if (std::isnan(wanted))
        CHECK(std::isnan(values[i]));
      else if (std::isinf(wanted) || wanted == 0)
        CHECK(values[i] == wanted);
      else
        CHECK(values[i] == Approx(wanted).epsilon(6e-7).margin(1e-43));
    }
  }
}

TEST_CASE("unary functions have first and second derivatives", "[ops][unary]") {
  for (const Row& row : kRows) {
    INFO(row.name);
    check_gradient([&](auto& in) { return row.fn(in[0]); },
                   {test_tensor({2, 4}, 3, row.low, row.high)}, {.second = true});
  }
}

TEST_CASE("unary functions keep a layout, forwards and backwards", "[ops][unary]") {
  const Tensor plain = test_tensor({4, 3}, 1, 0.5f, 2), x = reversed(plain);
  for (const Row& row : kRows) {
    INFO(row.name);
    WatchingTape tape({x});
    const Tensor y = row.fn(x);
    CHECK(y.layout());
    CHECK(y.to_vector() == row.fn(plain).to_vector());
    const Tensor dx = tape.gradient(y, x);
    WatchingTape plain_tape({plain});
    CHECK(dx.to_vector() == plain_tape.gradient(row.fn(plain), plain).to_vector());
  }
}

TEST_CASE("unary functions compute 16-bit floats in float32", "[ops][unary]") {
  std::vector<float16> halves;
  std::vector<double> wanted;
  for (int i = 0; i < 1100; ++i) {
    halves.emplace_back(float(i) / 512);
    wanted.push_back(std::tanh(double(float(halves.back()))));
  }
  const Tensor x({1100}, halves);
  CHECK(tanh(x).dtype() == DType::Float16);
  check_close(tanh(x), wanted, 0x1p-11);
  check_close(tanh(Tensor{bfloat16(0.5f)}), {std::tanh(0.5)}, 0x1p-8);
}

TEST_CASE("steps and signs are exact", "[ops][unary]") {
  const Tensor x{-1.5f, -0.5f, 0.0f, 0.5f, 1.5f, 2.5f};
  CHECK(floor(x).to_vector() == Floats{-2, -1, 0, 0, 1, 2});
  CHECK(ceil(x).to_vector() == Floats{-1, 0, 0, 1, 2, 3});
  CHECK(round(x).to_vector() == Floats{-2, 0, 0, 0, 2, 2});
  CHECK(sign(x).to_vector() == Floats{-1, -1, 0, 1, 1, 1});
  CHECK(abs(x).to_vector() == Floats{1.5f, 0.5f, 0, 0.5f, 1.5f, 2.5f});
  CHECK((-x).to_vector() == Floats{1.5f, 0.5f, 0, -0.5f, -1.5f, -2.5f});
}

TEST_CASE("integers have signs and squares but no exponentials", "[ops][unary]") {
  const Tensor x{-3, 0, 4};
  CHECK(negative(x).to_vector() == Floats{3, 0, -4});
  CHECK(abs(x).to_vector() == Floats{3, 0, 4});
  CHECK(sign(x).to_vector() == Floats{-1, 0, 1});
  CHECK(square(x).to_vector() == Floats{9, 0, 16});
  CHECK(floor(x).to_vector() == Floats{-3, 0, 4});
  CHECK(clip_by_value(x, -1, 2).to_vector() == Floats{-1, 0, 2});
  CHECK(sign(Tensor{uint8_t(0), uint8_t(200)}).to_vector() == Floats{0, 1});
  CHECK_THROWS_WITH(exp(x), "exp: wants a floating dtype, got int32 [3]");
}

TEST_CASE("what is not for bool says so in its own name", "[ops][unary]") {
  const Tensor x{true, false};
  CHECK_THROWS_WITH(-x, "negative: not for dtype bool");
  CHECK_THROWS_WITH(abs(x), "abs: not for dtype bool");
  CHECK_THROWS_WITH(sign(x), "sign: not for dtype bool");
  CHECK_THROWS_WITH(square(x), "square: not for dtype bool");
  CHECK_THROWS_WITH(clip_by_value(x, 0, 1), "clip_by_value: not for dtype bool");
  CHECK_THROWS_WITH(floor(x), "floor: not for dtype bool");
  CHECK_THROWS_WITH(ceil(x), "ceil: not for dtype bool");
  CHECK_THROWS_WITH(round(x), "round: not for dtype bool");
  CHECK_THROWS_WITH(is_nan(x), "is_nan: not for dtype bool");
  CHECK_THROWS_WITH(is_inf(x), "is_inf: not for dtype bool");
  CHECK_THROWS_WITH(is_finite(x), "is_finite: not for dtype bool");
  CHECK_THROWS_WITH(sqrt(x), "sqrt: wants a floating dtype, got bool [2]");
}

TEST_CASE("clip_by_value limits and gates its gradient", "[ops][unary]") {
  const Tensor x{-2.0f, -0.5f, 0.5f, 2.0f};
  CHECK(clip_by_value(x, -1, 1).to_vector() == Floats{-1, -0.5f, 0.5f, 1});
  check_gradient([](auto& in) { return clip_by_value(in[0], -1, 1); }, {x}, {.second = true});
  CHECK_THROWS_AS(clip_by_value(x, 1, -1), InvalidArgumentError);
}

TEST_CASE("infinities and NaN are found", "[ops][unary]") {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor x{1.0f, inf, -inf, std::nanf("")};
  CHECK(is_nan(x).to_vector() == Floats{0, 0, 0, 1});
  CHECK(is_inf(x).to_vector() == Floats{0, 1, 1, 0});
  CHECK(is_finite(x).to_vector() == Floats{1, 0, 0, 0});
  CHECK(is_finite(Tensor{1, 2}).to_vector() == Floats{1, 1});
  CHECK(is_nan(Tensor{float16(inf)}).to_vector() == Floats{0});
}

TEST_CASE("the third derivative is refused, not wrong", "[ops][unary]") {
  const Tensor x(0.5f);
  WatchingTape third({x});
  Tensor second_derivative;
  {
    WatchingTape second({x});
    Tensor first_derivative;
    {
      WatchingTape first({x});
      first_derivative = first.gradient(sin(x), x);
    }
    second_derivative = second.gradient(first_derivative, x);
  }
  CHECK_THROWS_AS(third.gradient(second_derivative, x), UnimplementedError);
}
