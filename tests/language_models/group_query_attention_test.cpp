#include <distribute/language_models/group_query_attention.hpp>

#include <distribute/ops/activation.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/slicing.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/gradient_check.hpp>

#include <cmath>

using namespace distribute;

namespace {

Tensor waves(const Shape& shape, double step, double start, bool cosine) {
  std::vector<float> values(size_t(shape.num_elements()));
  for (size_t i = 0; i < values.size(); ++i) {
    const double at = double(i) * step + start;
    values[i] = float(cosine ? std::cos(at) * 0.3 : std::sin(at));
  }
  return Tensor(shape, values);
}

void set_weights(nn::Module& layer) {
  const auto weights = layer.variables();
  for (size_t i = 0; i < weights.size(); ++i)
    weights[i].assign(waves(weights[i].shape(), 0.71, double(i), true));
}

}  // namespace

TEST_CASE("GroupQueryAttention gives Keras's results", "[language_models]") {
  // keras.layers.GroupQueryAttention(4, 4, 2) of Keras 3.15, called with x, x; the first step of
  // each example.
  const std::vector<double> whole = {
      0.0443764328956604,   -0.09184032678604126, -0.18367283046245575, -0.18674060702323914,
      -0.09956111013889313, 0.03573392331600189,  0.15375961363315582,  0.19747692346572876,
      -0.0478847473859787,  -0.10329896211624146, -0.10879124701023102, -0.06170734763145447,
      0.015198349952697754, 0.08475892245769501,  0.1133575588464737,   0.0871732085943222};
  const std::vector<double> causal = {
      0.41819217801094055,  0.30353787541389465,  0.0421907901763916,   -0.239546000957489,
      -0.40551596879959106, -0.375509649515152,   -0.16402851045131683, 0.12672382593154907,
      -0.03492359817028046, -0.42232853174209595, -0.6056322455406189,  -0.496248334646225,
      -0.1470392793416977,  0.27323034405708313,  0.5614542365074158,   0.5783405900001526};
  const Tensor x = waves({2, 3, 8}, 0.37, 0, false);
  for (const bool use_causal_mask : {false, true}) {
    nn::GroupQueryAttention layer({.head_dim = 4,
                                   .num_query_heads = 4,
                                   .num_key_value_heads = 2,
                                   .use_causal_mask = use_causal_mask});
    layer(x);
    CHECK(layer.variables().size() == 8);
    CHECK(layer.variables()[2].name() == layer.name() + "/key/kernel");
    CHECK(layer.variables()[2].shape() == Shape{8, 2, 4});
    set_weights(layer);
    const Tensor y = layer(x);
    CHECK(y.shape() == x.shape());
    check_close(slice(y, {0, 0, 0}, {-1, 1, -1}), use_causal_mask ? causal : whole, 2e-6);
  }
}

TEST_CASE("GroupQueryAttention has a gradient, also with rotary positions", "[language_models]") {
  nn::GroupQueryAttention layer({.head_dim = 4,
                                 .num_query_heads = 4,
                                 .num_key_value_heads = 2,
                                 .use_bias = false,
                                 .use_causal_mask = true,
                                 .rotary = nn::RotaryEmbeddingOptions{}});
  check_gradient([&](auto& in) { return layer(in[0]); }, {test_tensor({1, 3, 6}, 1, -1, 1)});
}

TEST_CASE("GroupQueryAttention refuses heads that do not divide each other", "[language_models]") {
  CHECK_THROWS_SAYING(
      nn::GroupQueryAttention({.head_dim = 4, .num_query_heads = 3, .num_key_value_heads = 2}),
      InvalidArgumentError, "must be divisible");
  CHECK_THROWS_AS(nn::GroupQueryAttention({.num_query_heads = 4, .num_key_value_heads = 2}),
                  InvalidArgumentError);
  nn::GroupQueryAttention layer({.head_dim = 2, .num_query_heads = 2, .num_key_value_heads = 1});
  CHECK_THROWS_SAYING(layer(zeros({2, 3})), InvalidArgumentError, "takes [batch, steps, features]");
}

TEST_CASE("RotaryEmbedding turns pairs by their position", "[language_models]") {
  nn::RotaryEmbedding rotary({.max_wavelength = 100});
  const Tensor x = waves({1, 3, 2, 4}, 0.9, 0.3, false);
  const Tensor y = rotary(x);
  for (int64_t step = 0; step < 3; ++step)
    for (int64_t head = 0; head < 2; ++head)
      for (int64_t i = 0; i < 2; ++i) {
        const auto at = [&](const Tensor& t, int64_t d) {
          return double(t.data<float>()[size_t((step * 2 + head) * 4 + d)]);
        };
        const double angle = double(step) / std::pow(100, double(i) / 2);
        const double a = at(x, i), b = at(x, i + 2);
        CHECK(at(y, i) == Approx(a * std::cos(angle) - b * std::sin(angle)).margin(1e-6));
        CHECK(at(y, i + 2) == Approx(b * std::cos(angle) + a * std::sin(angle)).margin(1e-6));
      }
  nn::RotaryEmbedding slow({.max_wavelength = 100, .scaling_factor = 2});
  const Tensor doubled({1, 3}, std::vector<int32_t>{0, 2, 4});
  const auto turned = nn::RotaryEmbedding::turn(x, slow.angles(doubled, 4)).to_vector();
  check_close(y, {turned.begin(), turned.end()});
  CHECK(rotary(zeros({2, 3, 6})).shape() == Shape{2, 3, 6});
  CHECK_THROWS_SAYING(rotary(zeros({2, 3, 5})), InvalidArgumentError, "the depth must be even");
  CHECK_THROWS_AS(rotary(zeros({2, 3})), InvalidArgumentError);
  CHECK_THROWS_AS(nn::RotaryEmbedding({.max_wavelength = 0}), InvalidArgumentError);
}

TEST_CASE("SwiGLU is down(silu(gate(x)) up(x))", "[language_models]") {
  nn::SwiGLU layer({.units = 5, .use_bias = true});
  const Tensor x = waves({2, 3}, 0.5, 0, false);
  layer(x);
  set_weights(layer);
  const auto w = layer.variables();  // gate, up, down: kernel and bias each
  REQUIRE(w.size() == 6);
  const auto product = [&](const Tensor& t, size_t i) {
    return matmul(t, w[i].value()) + w[i + 1].value();
  };
  const auto wanted = product(nn::silu(product(x, 0)) * product(x, 2), 4).to_vector();
  check_close(layer(x), {wanted.begin(), wanted.end()});
  check_gradient([&](auto& in) { return layer(in[0]); }, {x});
}
