#include <distribute/nn/normalization.hpp>
#include <distribute/nn/pooling.hpp>

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
