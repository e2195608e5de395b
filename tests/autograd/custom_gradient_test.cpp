#include <distribute/autograd/custom_gradient.hpp>
#include <distribute/base/error.hpp>
#include <distribute/ops/math.hpp>

#include "support/catch.hpp"
#include "support/watching_tape.hpp"

using namespace distribute;

namespace {
/// log(1 + e^x), of which the plain gradient is not a number for large x.
Tensor log1pexp(const Tensor& x) {
  return custom_gradient(
      [](const std::vector<Tensor>& in) {
        const Tensor e = exp(in[0]);
        return ValueAndGradient{log(1.0f + e), [e](const Tensor& upstream) {
                                  return std::vector<Tensor>{upstream * (1.0f - 1.0f / (1.0f + e))};
                                }};
      },
      {x});
}
}  // namespace

// TensorFlow 2.21: the gradient of the plain formula at 100 is nan, of the custom one 1.
TEST_CASE("a function's own gradient replaces that of its operations",
          "[autograd][custom_gradient]") {
  const Tensor x{0.0f, 100.0f};
  WatchingTape tape({x});
  const Tensor y = log1pexp(x) * 3.0f;
  CHECK(y.to_vector()[0] == Approx(3 * 0.693147182));
  CHECK(tape.gradient(y, x).to_vector() == std::vector{1.5f, 3.0f});
}

TEST_CASE("a custom gradient of two inputs may leave one out", "[autograd][custom_gradient]") {
  const Tensor a(2.0f), b(3.0f);
  WatchingTape tape({a, b}, {.persistent = true});
  const Tensor y = custom_gradient(
      [](const std::vector<Tensor>& in) {
        return ValueAndGradient{in[0] * in[1], [in](const Tensor& upstream) {
                                  return std::vector<Tensor>{upstream * 10.0f * in[1], Tensor()};
                                }};
      },
      {a, b});
  CHECK(y.item<float>() == 6);
  CHECK(tape.gradient(y, a).item<float>() == 30);
  CHECK_FALSE(tape.gradient(y, b));
}

TEST_CASE("a custom gradient has a gradient itself", "[autograd][custom_gradient]") {
  const Tensor x(2.0f);
  WatchingTape outer({x});
  Tensor slope;
  {
    WatchingTape inner({x});
    const Tensor y = custom_gradient(
        [](const std::vector<Tensor>& in) {
          return ValueAndGradient{in[0] * in[0], [x = in[0]](const Tensor& upstream) {
                                    return std::vector<Tensor>{upstream * x * x * x};
                                  }};
        },
        {x});
    slope = inner.gradient(y, x);
  }
  CHECK(slope.item<float>() == 8);
  CHECK(outer.gradient(slope, x).item<float>() == 12);
}

TEST_CASE("another number of gradients than of inputs is an error", "[autograd][custom_gradient]") {
  const Tensor x(1.0f);
  WatchingTape tape({x});
  const Tensor y = custom_gradient(
      [](const std::vector<Tensor>& in) {
        return ValueAndGradient{in[0] * 1.0f, [](const Tensor&) { return std::vector<Tensor>{}; }};
      },
      {x});
  CHECK_THROWS_AS(tape.gradient(y, x), InvalidArgumentError);
}
