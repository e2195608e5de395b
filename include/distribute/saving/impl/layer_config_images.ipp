#pragma once
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/saving/detail/config_writer.hpp>
#include <distribute/saving/detail/layer_config.hpp>

#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

using Json = nlohmann::ordered_json;

/// Writes the options that two-dimensional convolutions have in common.
template <typename Options>
Json convolution_config(const nn::Module& layer, const Options& o, Padding padding) {
  Json config = {{"kernel_size", pair_of(o.kernel_size)},
                 {"strides", pair_of(o.strides)},
                 {"padding", padding_name(layer, padding)},
                 {"dilation_rate", pair_of(o.dilation_rate)},
                 {"activation", activation_name(layer, o.activation)},
                 {"use_bias", o.use_bias}};
  if constexpr (requires { o.filters; }) config["filters"] = o.filters;
  if constexpr (requires { o.groups; }) config["groups"] = o.groups;
  if constexpr (requires { o.depth_multiplier; }) config["depth_multiplier"] = o.depth_multiplier;
  if constexpr (requires { o.kernel_regularizer; })
    config["kernel_regularizer"] = regularizer_object(o.kernel_regularizer);
  if constexpr (requires { o.depthwise_regularizer; })
    config["depthwise_regularizer"] = regularizer_object(o.depthwise_regularizer);
  if constexpr (requires { o.pointwise_regularizer; })
    config["pointwise_regularizer"] = regularizer_object(o.pointwise_regularizer);
  if constexpr (requires { o.bias_regularizer; })
    config["bias_regularizer"] = regularizer_object(o.bias_regularizer);
  if constexpr (requires { o.kernel_constraint; })
    config["kernel_constraint"] = constraint_object(o.kernel_constraint);
  if constexpr (requires { o.depthwise_constraint; })
    config["depthwise_constraint"] = constraint_object(o.depthwise_constraint);
  if constexpr (requires { o.pointwise_constraint; })
    config["pointwise_constraint"] = constraint_object(o.pointwise_constraint);
  if constexpr (requires { o.bias_constraint; })
    config["bias_constraint"] = constraint_object(o.bias_constraint);
  return config;
}

/// Writes the layer if it is of that class; an explicit padding becomes a layer before it.
template <typename Layer>
bool add_convolution(const nn::Module& layer, const char* name, Json& layers) {
  const auto* convolution = dynamic_cast<const Layer*>(&layer);
  if (!convolution) return false;
  const auto& o = convolution->options();
  Padding padding = o.padding;
  if constexpr (requires { o.explicit_paddings; })
    if (padding == Padding::Explicit) {
      const auto& e = o.explicit_paddings;
      const Json edges = Json::array({Json::array({e[0], e[1]}), Json::array({e[2], e[3]})});
      layers.push_back(keras_object("keras.layers", "ZeroPadding2D",
                                    {{"name", layer.name() + "_padding"}, {"padding", edges}}));
      padding = Padding::Valid;
    }
  layers.push_back(layer_object(layer, name, convolution_config(layer, o, padding)));
  return true;
}

DISTRIBUTE_INLINE bool add_any_convolution(const nn::Module& layer, Json& layers) {
  return add_convolution<nn::Conv2D>(layer, "Conv2D", layers) ||
         add_convolution<nn::DepthwiseConv2D>(layer, "DepthwiseConv2D", layers) ||
         add_convolution<nn::SeparableConv2D>(layer, "SeparableConv2D", layers) ||
         add_convolution<nn::Conv2DTranspose>(layer, "Conv2DTranspose", layers);
}

DISTRIBUTE_INLINE Json pair_of(int64_t steps) { return steps; }

/// Writes pools of images or steps.
template <typename Layer>
bool add_pool(const nn::Module& layer, const char* name, Json& layers) {
  const auto* pool = dynamic_cast<const Layer*>(&layer);
  if (!pool) return false;
  const auto& o = pool->options();
  if constexpr (requires { o.keepdims; })
    layers.push_back(layer_object(layer, name, {{"keepdims", o.keepdims}}));
  else
    layers.push_back(layer_object(layer, name,
                                  {{"pool_size", pair_of(o.pool_size)},
                                   {"strides", pair_of(o.strides.value_or(o.pool_size))},
                                   {"padding", padding_name(layer, o.padding)}}));
  return true;
}

DISTRIBUTE_INLINE bool add_any_pool(const nn::Module& layer, Json& layers) {
  return add_pool<nn::MaxPool2D>(layer, "MaxPooling2D", layers) ||
         add_pool<nn::AveragePooling2D>(layer, "AveragePooling2D", layers) ||
         add_pool<nn::GlobalAveragePooling2D>(layer, "GlobalAveragePooling2D", layers) ||
         add_pool<nn::GlobalMaxPooling2D>(layer, "GlobalMaxPooling2D", layers) ||
         add_pool<nn::MaxPooling1D>(layer, "MaxPooling1D", layers) ||
         add_pool<nn::AveragePooling1D>(layer, "AveragePooling1D", layers) ||
         add_pool<nn::GlobalAveragePooling1D>(layer, "GlobalAveragePooling1D", layers) ||
         add_pool<nn::GlobalMaxPooling1D>(layer, "GlobalMaxPooling1D", layers);
}

DISTRIBUTE_INLINE const char* interpolation_name(nn::Interpolation interpolation) {
  return interpolation == nn::Interpolation::Nearest ? "nearest" : "bilinear";
}

DISTRIBUTE_INLINE bool add_moved_pixels(const nn::Module& layer, Json& layers) {
  if (const auto* padding = dynamic_cast<const nn::ZeroPadding2D*>(&layer))
    layers.push_back(layer_object(
        layer, "ZeroPadding2D",
        {{"padding", Json::array({padding->options().rows, padding->options().columns})}}));
  else if (const auto* larger = dynamic_cast<const nn::UpSampling2D*>(&layer))
    layers.push_back(
        layer_object(layer, "UpSampling2D",
                     {{"size", pair_of(larger->size())},
                      {"interpolation", interpolation_name(larger->interpolation())}}));
  else if (const auto* resized = dynamic_cast<const nn::Resizing*>(&layer))
    layers.push_back(
        layer_object(layer, "Resizing",
                     {{"height", resized->options().height},
                      {"width", resized->options().width},
                      {"interpolation", interpolation_name(resized->options().interpolation)}}));
  else
    return false;
  return true;
}

DISTRIBUTE_INLINE bool add_image_layer(const nn::Module& layer, Json& layers) {
  return add_any_convolution(layer, layers) || add_any_pool(layer, layers) ||
         add_moved_pixels(layer, layers);
}

}  // namespace distribute::saving_internal
