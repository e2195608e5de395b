#include <distribute/nn/attention.hpp>
#include <distribute/nn/policy.hpp>
#include <distribute/ops/array.hpp>

#include "keras_layers.hpp"
#include "support/check_close.hpp"
#include "support/check_throws.hpp"
#include "support/gradient_check.hpp"
#include "two_replicas.hpp"

using namespace distribute;
using namespace keras_layers;

TEST_CASE("attention gives Keras's values", "[nn][attention]") {
  nn::MultiHeadAttention plain({.num_heads = 2, .key_dim = 3});
  check("attention", plain);
  nn::MultiHeadAttention causal({.num_heads = 2, .key_dim = 3, .use_causal_mask = true});
  check("attention_causal", causal);
  nn::MultiHeadAttention sizes(
      {.num_heads = 2, .key_dim = 3, .value_dim = 4, .use_bias = false, .output_shape = 7});
  check("attention_sizes", sizes);
}

TEST_CASE("attention knows Keras's masks", "[nn][attention]") {
  const nn::MultiHeadAttentionOptions options{.num_heads = 2, .key_dim = 3};
  const Tensor pairs = mask({1, 4, 4}, {1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1});
  nn::MultiHeadAttention one(options), two(options), three(options);
  check("attention_mask", {&one},
        [&](const auto& in) { return one(in[0], in[0], {.attention_mask = pairs}); });
  check("attention_padding", two, {.mask = padding()});
  check("attention_padding_causal", {&three}, [&](const auto& in) {
    return three(in[0], in[0], {.value_mask = gaps(), .use_causal_mask = true});
  });
}

TEST_CASE("attention looks at other sequences", "[nn][attention]") {
  nn::MultiHeadAttention layer({.num_heads = 2, .key_dim = 3});
  check("attention_cross", {&layer}, [&](const auto& in) {
    return layer(in[0], in[1], {.key = in[2], .value_mask = gaps(), .key_mask = padding()});
  });
  CHECK_THROWS_AS(layer(zeros({3, 2, 5}), zeros({3, 4, 6}), {.key = zeros({3, 3, 2})}),
                  InvalidArgumentError);
}

TEST_CASE("attention with dropout gives Keras's zeros where a query may look at no key",
          "[nn][attention]") {
  const nn::MultiHeadAttentionOptions options{.num_heads = 2, .key_dim = 3, .dropout = 0.5};
  const Tensor pairs = mask({1, 4, 4}, {1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1, 1});
  nn::MultiHeadAttention one(options), two(options);
  check("attention_dropout_padding", one, {.mask = padding()});
  check("attention_dropout_mask", {&two}, [&](const auto& in) {
    return two(in[0], in[0],
               {.value_mask = gaps(), .attention_mask = pairs, .use_causal_mask = true});
  });

  // In training, too: what is left is the bias of the projection that joins the heads.
  const Tensor x = uniform({1, 4, 5}, 3);
  const Tensor y = two(x, x, {.value_mask = mask({1, 4}, {0, 0, 0, 0}), .training = true});
  const auto bias = two.variables().back().value().to_vector(), got = y.to_vector();
  for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == bias[i % bias.size()]);
}

TEST_CASE("attention is called with wrong sizes", "[nn][attention]") {
  CHECK_THROWS_AS(nn::MultiHeadAttention({.num_heads = 0, .key_dim = 3}), InvalidArgumentError);
  CHECK_THROWS_AS(nn::MultiHeadAttention({.num_heads = 2, .key_dim = 0}), InvalidArgumentError);
  CHECK_THROWS_AS(nn::MultiHeadAttention({.num_heads = 2, .key_dim = 3, .dropout = 1}),
                  InvalidArgumentError);
  nn::MultiHeadAttention layer({.num_heads = 2, .key_dim = 3});
  CHECK_THROWS_AS(layer(zeros({2, 5})), InvalidArgumentError);
}

TEST_CASE("attention drops probabilities while training", "[nn][attention]") {
  nn::MultiHeadAttention layer({.num_heads = 2, .key_dim = 3, .dropout = 0.5, .seed = 7});
  const Tensor x = uniform({2, 6, 4}, 3);
  const auto still = layer(x).to_vector();
  CHECK(layer(x).to_vector() == still);
  const auto first = layer(x, {.training = true}).to_vector();
  CHECK(first != still);
  CHECK(layer(x, {.training = true}).to_vector() != first);
}

TEST_CASE("attention of a bfloat16 policy stays near that of float32", "[nn][attention]") {
  nn::MultiHeadAttention wide({.num_heads = 2, .key_dim = 3}),
      narrow({.num_heads = 2, .key_dim = 3});
  narrow.set_dtype_policy(nn::Policy("mixed_bfloat16"));
  const Tensor x = uniform({2, 6, 4}, 3);
  wide(x), narrow(x);
  for (size_t i = 0; i < wide.variables().size(); ++i)
    narrow.variables()[i].assign(wide.variables()[i].value());
  const Tensor y = narrow(x);
  CHECK(y.dtype() == DType::BFloat16);
  const auto a = y.to_vector(), b = wide(x).to_vector();
  for (size_t i = 0; i < a.size(); ++i) CHECK(a[i] == Approx(b[i]).margin(0.03));
}

TEST_CASE("attention goes along some axes of its inputs", "[nn][attention]") {
  nn::MultiHeadAttention one({.num_heads = 2, .key_dim = 3}),
      rows({.num_heads = 2, .key_dim = 3, .attention_axes = {2}});
  const Tensor x = uniform({2, 6, 4}, 3), pictures = reshape(x, {1, 2, 6, 4});
  one(x, x), rows(pictures, pictures);
  for (size_t i = 0; i < one.variables().size(); ++i)
    rows.variables()[i].assign(one.variables()[i].value());
  const auto numbers = one(x, x).to_vector();
  const std::vector<double> wanted(numbers.begin(), numbers.end());
  check_close(rows(pictures, pictures), wanted, 1e-6);
  const auto with_scores = rows.attend(pictures, pictures);
  CHECK(with_scores.scores.shape() == Shape{1, 2, 2, 6, 6});
  check_close(with_scores.output, wanted, 1e-6);
  CHECK_THROWS_AS(nn::MultiHeadAttention({.num_heads = 2, .key_dim = 3, .attention_axes = {0}})(
                      pictures, pictures),
                  InvalidArgumentError);
}

TEST_CASE("a mask of steps is refused where several axes attend", "[nn][attention]") {
  nn::MultiHeadAttention layer({.num_heads = 2, .key_dim = 3});
  const Tensor x = uniform({2, 3, 2, 4}, 3);
  CHECK_THROWS_WITH(layer(x, x, {.use_causal_mask = true}), Contains("give attention_mask"));
  CHECK(layer(x, x).shape() == x.shape());
}

TEST_CASE("a window and a gate of attention have gradients", "[nn][attention]") {
  nn::MultiHeadAttention layer(
      {.num_heads = 2, .key_dim = 3, .sliding_window = 2, .use_gate = true});
  const Tensor x = uniform({2, 5, 4}, 3);
  layer(x, x);
  CHECK(layer.variables().size() == 10);
  check_gradient([&](const auto& in) { return layer(in[0], in[0]); }, {x});
  CHECK_THROWS_AS(nn::MultiHeadAttention({.num_heads = 2, .key_dim = 3, .sliding_window = 0}),
                  InvalidArgumentError);
}
