#include <distribute/ops/activation.hpp>

#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/tensor/detail/tensor_hints.hpp>

#include "../support/check_close.hpp"
#include "../support/gradient_check.hpp"

#include <numbers>

using namespace distribute;

namespace {

struct Row {
  const char* name;
  nn::ActivationFunction fn;
  std::vector<double> values;  // at -2, -0.5, 0, 0.5, 7, from TensorFlow's formulas
};

const std::vector<Row>& rows() {
  static const std::vector<Row> result = {
      {"relu", nn::relu, {0, 0, 0, 0.5, 7}},
      {"relu6", nn::relu6, {0, 0, 0, 0.5, 6}},
      {"leaky_relu", nn::leaky_relu, {-0.4, -0.1, 0, 0.5, 7}},
      {"elu", nn::elu, {-0.8646647, -0.3934693, 0, 0.5, 7}},
      {"selu", nn::selu, {-1.5201665, -0.6917582, 0, 0.5253505, 7.3549069}},
      {"gelu", nn::gelu, {-0.0455003, -0.1542688, 0, 0.3457312, 7}},
      {"gelu_approximate", nn::gelu_approximate, {-0.0454023, -0.1542860, 0, 0.3457140, 7}},
      {"softplus", nn::softplus, {0.1269280, 0.4740770, 0.6931472, 0.9740770, 7.0009115}},
      {"silu", nn::silu, {-0.2384058, -0.1887703, 0, 0.3112297, 6.9936225}},
      {"tanh", nn::tanh, {-0.9640276, -0.4621172, 0, 0.4621172, 0.9999983}},
      {"sigmoid", nn::sigmoid, {0.1192029, 0.3775407, 0.5, 0.6224593, 0.9990889}},
      {"linear", nn::linear, {-2, -0.5, 0, 0.5, 7}},
      {"hard_silu", nn::hard_silu, {-0.3333333, -0.2083333, 0, 0.2916667, 7}},
      {"hard_sigmoid", nn::hard_sigmoid, {0.1666667, 0.4166667, 0.5, 0.5833333, 1}},
      {"mish", nn::mish, {-0.2525015, -0.2207438, 0, 0.3752452, 6.9999890}},
      {"softsign", nn::softsign, {-0.6666667, -0.3333333, 0, 0.3333333, 0.875}},
      {"exponential", nn::exponential, {0.1353353, 0.6065307, 1, 1.6487212, 1096.6331787}},
      {"celu", nn::celu, {-0.8646647, -0.3934693, 0, 0.5, 7}},
      {"hard_tanh", nn::hard_tanh, {-1, -0.5, 0, 0.5, 1}},
      {"tanh_shrink", nn::tanh_shrink, {-1.0359724, -0.0378829, 0, 0.0378829, 6.0000019}},
      {"log_sigmoid", nn::log_sigmoid, {-2.1269281, -0.974077, -0.6931472, -0.474077, -0.0009115}},
      {"squareplus", nn::squareplus, {0.4142135, 0.7807764, 1, 1.2807764, 7.1400547}},
      {"soft_shrink", nn::soft_shrink, {-1.5, 0, 0, 0, 6.5}},
      {"hard_shrink", nn::hard_shrink, {-2, 0, 0, 0, 7}},
      {"sparse_plus", nn::sparse_plus, {0, 0.0625, 0.25, 0.5625, 7}},
      {"sparse_sigmoid", nn::sparse_sigmoid, {0, 0.25, 0.5, 0.75, 1}},
  };
  return result;
}

}  // namespace

TEST_CASE("activations give the values of their formulas", "[ops][activation]") {
  const Tensor x{-2.0f, -0.5f, 0.0f, 0.5f, 7.0f};
  for (const Row& row : rows()) {
    INFO(row.name);
    check_close(row.fn(x), row.values, 1e-6);
  }
}

TEST_CASE("activations have first and second derivatives", "[ops][activation]") {
  const Tensor x{-2.0f, -1.1f, -0.3f, 0.2f, 0.9f, 2.3f};
  for (const Row& row : rows()) {
    INFO(row.name);
    check_gradient([&](auto& in) { return row.fn(in[0]); }, {x}, {.second = true});
  }
  check_gradient([](auto& in) { return nn::leaky_relu(in[0], 0.3f); }, {x}, {.second = true});
}

TEST_CASE("activations take Keras's numbers", "[ops][activation]") {
  const Tensor x{-2.0f, -0.5f, 0.0f, 0.5f, 7.0f};
  check_close(nn::elu(x, 0.3), {-0.2593994, -0.1180408, 0, 0.5, 7}, 1e-6);
  check_close(nn::celu(x, 2), {-1.2642411, -0.4423984, 0, 0.5, 7}, 1e-6);
  check_close(nn::soft_shrink(x, 1), {-1, 0, 0, 0, 6}, 1e-6);
  check_close(nn::hard_shrink(x, 1), {-2, 0, 0, 0, 7}, 1e-6);
  check_close(nn::squareplus(x, 0), {0, 0, 0, 0.5, 7}, 1e-6);
  check_close(nn::threshold(x, 0, -3), {-3, -3, -3, 0.5, 7}, 1e-6);
}

TEST_CASE("gelu has the derivatives of its formula, in vectors and in what is left over",
          "[ops][activation]") {
  const auto density = [](double x) {
    return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
  };
  for (const int64_t count : {int64_t(1), int64_t(13), int64_t(1003)}) {
    INFO(count);
    const Tensor x = test_tensor({count}, 4, -6, 6);
    GradientTape outer, inner;
    outer.watch(x), inner.watch(x);
    const Tensor first = inner.gradient(nn::gelu(x), x), second = outer.gradient(first, x);
    std::vector<double> once, twice;
    for (const double v : x.to_vector()) {
      once.push_back(std::erfc(-v / std::numbers::sqrt2) / 2 + v * density(v));
      twice.push_back((2 - v * v) * density(v));
    }
    check_close(first, once, 2e-6);
    check_close(second, twice, 2e-6);
  }
  const Tensor many = test_tensor({61}, 5, -4, 4);
  for (const auto function : {nn::gelu, nn::gelu_approximate})
    check_gradient([&](auto& in) { return function(in[0]); }, {many}, {.second = true});
}

// Keras 3.15 with TensorFlow prints 0.36787945, 2, 2, 1 for celu and 1 in the middle for elu.
TEST_CASE("celu has the slopes of both sides at 0", "[ops][activation]") {
  const Tensor x{-1.0f, -0.0f, 0.0f, 1.0f};
  const auto slopes = [&](nn::ActivationFunction function) {
    WatchingTape tape({x});
    return tape.gradient(function(x), x);
  };
  check_close(slopes(nn::celu), {0.36787945, 2, 2, 1});
  check_close(slopes(nn::elu), {0.36787945, 1, 1, 1});
}

TEST_CASE("activations stay finite far out", "[ops][activation]") {
  const Tensor x{-100.0f, 100.0f};
  for (const Row& row : rows()) {
    if (row.fn == nn::ActivationFunction(nn::exponential)) continue;  // it is not
    INFO(row.name);
    WatchingTape tape({x});
    const Tensor y = row.fn(x);
    CHECK(reduce_all(is_finite(y)).item<bool>());
    CHECK(reduce_all(is_finite(tape.gradient(y, x))).item<bool>());
  }
}

TEST_CASE("relu marks its result and passes gradients that are gated already",
          "[ops][activation]") {
  const Tensor x{-1.0f, 2.0f};
  WatchingTape tape({x}, {.persistent = true});
  const Tensor y = nn::relu(x);
  CHECK(TensorHints::of(y).relu_output);
  CHECK_FALSE(TensorHints::of(nn::elu(x)).relu_output);
  Tensor dy{3.0f, 4.0f};
  const auto gradient = [&] {
    return tape.gradient({y}, std::vector<Tensor>{x}, {.output_gradients = {dy}})[0];
  };
  CHECK(gradient().to_vector() == std::vector<float>{0, 4});
  TensorHints::of(dy).gated = true;
  CHECK(gradient().to_vector() == std::vector<float>{3, 4});
}

TEST_CASE("relu closes on infinite gradients", "[ops][activation]") {
  const Tensor x{-1.0f, 1.0f};
  WatchingTape tape({x});
  const Tensor y = nn::relu(x) * std::numeric_limits<float>::infinity();
  CHECK(tape.gradient(y, x).to_vector()[0] == 0);
}

TEST_CASE("relu keeps NaN, layouts and integers", "[ops][activation]") {
  CHECK(std::isnan(nn::relu(Tensor(std::nanf(""))).item<float>()));
  const Tensor x = test_tensor({50, 7, 7, 16});
  const Tensor y = nn::relu(reversed(x));
  CHECK(y.layout());
  CHECK(y.to_vector() == nn::relu(x).to_vector());
  CHECK(nn::relu(Tensor{-1, 2}).to_vector() == std::vector<float>{0, 2});
  CHECK_THROWS_AS(nn::gelu(Tensor{1, 2}), InvalidArgumentError);
  CHECK_THROWS_WITH(nn::relu(Tensor{true, false}), "relu: not for dtype bool");
}

TEST_CASE("relu of 16-bit floats keeps the dtype", "[ops][activation]") {
  const Tensor x{bfloat16(-1.0f), bfloat16(1.5f)};
  CHECK(nn::relu(x).dtype() == DType::BFloat16);
  CHECK(nn::relu(x).to_vector() == std::vector<float>{0, 1.5f});
}
