#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>

#include "keras_layers.hpp"

using namespace distribute;
using namespace keras_layers;

TEST_CASE("groups of channels are normalized as Keras does", "[nn][group_normalization]") {
  nn::GroupNormalization two({.groups = 2});
  check("group_norm", two);
  nn::GroupNormalization each({.groups = -1, .scale = false});
  check("instance_norm", each);
  nn::GroupNormalization three({.groups = 3});
  CHECK_THROWS_AS(three(zeros({2, 4})), InvalidArgumentError);
}

TEST_CASE("root mean squares are normalized as Keras does", "[nn][group_normalization]") {
  nn::RMSNormalization layer({});
  check("rms_norm", layer);
}

TEST_CASE("layer normalization takes any axes", "[nn][group_normalization]") {
  nn::LayerNormalization inner({.axis = 1});
  check("layer_norm_inner", inner);
  nn::LayerNormalization two({.axis = {1, 2}, .epsilon = 1e-6, .scale = false});
  check("layer_norm_two", two);
  nn::LayerNormalization twice({.axis = {1, 1}});
  CHECK_THROWS_AS(twice(zeros({2, 3})), InvalidArgumentError);
}

TEST_CASE("the largest of all steps", "[nn][group_normalization]") {
  nn::GlobalMaxPooling1D layer({});
  check("max_pool_1d", layer);
}

TEST_CASE("a layer scales each feature by a weight of its own", "[nn][layer_scale]") {
  // Keras 3.15, LayerScale(0.25, 3) of keras.applications.convnext: values, and the gradient of the
  // sum of squares.
  nn::LayerScale layer({.init_values = 0.25, .projection_dim = 3});
  GradientTape tape;
  const Tensor y = layer(Tensor(Shape{2, 3}, std::vector<float>{1, -2, 3, 4, 5, -6}));
  CHECK(y.to_vector() == std::vector<float>{0.25f, -0.5f, 0.75f, 1, 1.25f, -1.5f});
  const std::vector<Variable> weights = layer.trainable_variables();
  REQUIRE(weights.size() == 1);
  CHECK(weights[0].name() == "layer_scale/gamma");
  CHECK(tape.gradient(reduce_sum(square(y)), weights)[0].to_vector() ==
        std::vector<float>{8.5f, 14.5f, 22.5f});
  nn::LayerScale small({.projection_dim = 3});
  CHECK(small(ones({1, 3})).to_vector() == std::vector<float>(3, 1e-6f));
  CHECK_THROWS_AS(nn::LayerScale({.projection_dim = 3})(ones({1, 4})), InvalidArgumentError);
}

TEST_CASE("a layer that scales takes the policy's dtype and learns in any batch",
          "[nn][layer_scale]") {
  nn::LayerScale layer({.init_values = 0.5, .projection_dim = 2});
  layer.set_dtype_policy(nn::Policy("mixed_bfloat16"));
  const Tensor y = layer(ones({2, 3, 2}));
  CHECK(y.dtype() == DType::BFloat16);
  CHECK(y.shape() == Shape{2, 3, 2});
  CHECK(layer.variables()[0].dtype() == DType::Float32);
}
