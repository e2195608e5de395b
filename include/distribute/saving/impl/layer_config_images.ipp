#pragma once
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/convolution_1d_3d.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/saving/detail/config_writer.hpp>
#include <distribute/saving/detail/layer_config.hpp>

#include <array>

#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

using Json = nlohmann::ordered_json;

/// Writes one number, as of a layer of steps.
DISTRIBUTE_INLINE Json pair_of(int64_t steps) { return steps; }

/// Writes the options that convolutions have in common.
template <typename Options>
Json convolution_config(const nn::Module& layer, const Options& o, Padding padding) {
  Json config = {{"kernel_size", pair_of(o.kernel_size)},
                 {"strides", pair_of(o.strides)},
                 {"padding", padding_name(layer, padding)},
                 {"dilation_rate", pair_of(o.dilation_rate)},
                 {"activation", activation_name(layer, o.activation)},
                 {"use_bias", o.use_bias}};
  if constexpr (requires { o.filters; }) config["filters"] = o.filters;
  if constexpr (requires { o.output_padding; })
    config["output_padding"] = o.output_padding ? pair_of(*o.output_padding) : Json(nullptr);
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
         add_convolution<nn::Conv2DTranspose>(layer, "Conv2DTranspose", layers) ||
         add_convolution<nn::Conv3D>(layer, "Conv3D", layers) ||
         add_convolution<nn::Conv3DTranspose>(layer, "Conv3DTranspose", layers) ||
         add_convolution<nn::Conv1DTranspose>(layer, "Conv1DTranspose", layers) ||
         add_convolution<nn::DepthwiseConv1D>(layer, "DepthwiseConv1D", layers) ||
         add_convolution<nn::SeparableConv1D>(layer, "SeparableConv1D", layers);
}

/// Writes pools of volumes, images or steps.
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
         add_pool<nn::GlobalMaxPooling1D>(layer, "GlobalMaxPooling1D", layers) ||
         add_pool<nn::MaxPooling3D>(layer, "MaxPooling3D", layers) ||
         add_pool<nn::AveragePooling3D>(layer, "AveragePooling3D", layers) ||
         add_pool<nn::GlobalAveragePooling3D>(layer, "GlobalAveragePooling3D", layers) ||
         add_pool<nn::GlobalMaxPooling3D>(layer, "GlobalMaxPooling3D", layers);
}

/// Writes a layer whose kind ends in the number of axes, "cropping2d" as "Cropping2D".
DISTRIBUTE_INLINE bool add_edges(const nn::Module& layer, Json& layers) {
  const auto* sides = dynamic_cast<const nn::EdgeLayer*>(&layer);
  if (!sides) return false;
  const bool pads = dynamic_cast<const nn::ZeroPadding*>(&layer);
  Json edges = Json::array();
  for (const nn::AxisEdges& axis : sides->edges())
    edges.push_back(Json::array({axis.before, axis.after}));
  const std::string name = str_cat(pads ? "ZeroPadding" : "Cropping", edges.size(), "D");
  if (edges.size() == 1) edges = Json(edges[0]);
  layers.push_back(layer_object(layer, name, {{pads ? "padding" : "cropping", edges}}));
  return true;
}

DISTRIBUTE_INLINE bool add_adaptive_pool(const nn::Module& layer, Json& layers) {
  const auto* pool = dynamic_cast<const nn::AdaptivePooling*>(&layer);
  if (!pool) return false;
  const bool averages = dynamic_cast<const nn::AdaptiveAveragePooling*>(&layer);
  layers.push_back(layer_object(
      layer,
      str_cat("Adaptive", averages ? "Average" : "Max", "Pooling", pool->output_size().size(), "D"),
      {{"output_size", pool->output_size()}}));
  return true;
}

DISTRIBUTE_INLINE const char* interpolation_name(nn::Interpolation interpolation) {
  const std::array<const char*, 5> names{"nearest", "bilinear", "bicubic", "lanczos3", "lanczos5"};
  return names.at(size_t(interpolation));
}

DISTRIBUTE_INLINE bool add_moved_pixels(const nn::Module& layer, Json& layers) {
  if (const auto* steps = dynamic_cast<const nn::UpSampling1D*>(&layer))
    layers.push_back(layer_object(layer, "UpSampling1D", {{"size", steps->size()}}));
  else if (const auto* volumes = dynamic_cast<const nn::UpSampling3D*>(&layer))
    layers.push_back(layer_object(layer, "UpSampling3D", {{"size", pair_of(volumes->size())}}));
  else if (const auto* middle = dynamic_cast<const nn::CenterCrop*>(&layer))
    layers.push_back(
        layer_object(layer, "CenterCrop",
                     {{"height", middle->options().height}, {"width", middle->options().width}}));
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
                      {"crop_to_aspect_ratio", resized->options().crop_to_aspect_ratio},
                      {"pad_to_aspect_ratio", resized->options().pad_to_aspect_ratio},
                      {"fill_value", resized->options().fill_value},
                      {"antialias", resized->options().antialias},
                      {"interpolation", interpolation_name(resized->options().interpolation)}}));
  else
    return false;
  return true;
}

DISTRIBUTE_INLINE bool add_image_layer(const nn::Module& layer, Json& layers) {
  return add_any_convolution(layer, layers) || add_any_pool(layer, layers) ||
         add_adaptive_pool(layer, layers) || add_edges(layer, layers) ||
         add_moved_pixels(layer, layers);
}

}  // namespace distribute::saving_internal
