#pragma once
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/convolution_1d_3d.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/saving/detail/layer_maker.hpp>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

/// Reads the options that convolutions have in common.
template <typename Options>
Options convolution_options(ConfigReader& r) {
  Options o;
  r.size("kernel_size", o.kernel_size);
  r.size("strides", o.strides);
  o.padding = r.padding();
  r.size("dilation_rate", o.dilation_rate);
  if constexpr (requires { o.output_padding; }) r.size("output_padding", o.output_padding);
  o.activity_regularizer = r.regularizer("activity_regularizer");
  o.activation = r.activation();
  o.use_bias = r.get("use_bias", true);
  if constexpr (requires { o.kernel_regularizer; })
    o.kernel_regularizer = r.regularizer("kernel_regularizer");
  if constexpr (requires { o.depthwise_regularizer; })
    o.depthwise_regularizer = r.regularizer("depthwise_regularizer");
  if constexpr (requires { o.pointwise_regularizer; })
    o.pointwise_regularizer = r.regularizer("pointwise_regularizer");
  if constexpr (requires { o.bias_regularizer; })
    o.bias_regularizer = r.regularizer("bias_regularizer");
  if constexpr (requires { o.kernel_constraint; })
    o.kernel_constraint = r.constraint("kernel_constraint");
  if constexpr (requires { o.depthwise_constraint; })
    o.depthwise_constraint = r.constraint("depthwise_constraint");
  if constexpr (requires { o.pointwise_constraint; })
    o.pointwise_constraint = r.constraint("pointwise_constraint");
  if constexpr (requires { o.bias_constraint; })
    o.bias_constraint = r.constraint("bias_constraint");
  if constexpr (requires { o.filters; }) o.filters = r.get<int64_t>("filters", 0);
  if constexpr (requires { o.depth_multiplier; })
    o.depth_multiplier = r.get<int64_t>("depth_multiplier", 1);
  if (const int64_t groups = r.get<int64_t>("groups", 1); groups != 1) {
    if constexpr (requires { o.groups; })
      o.groups = groups;
    else
      r.refuse("option 'groups'");
  }
  return o;
}

template <typename Layer, typename Options>
LayerMaker convolution_maker() {
  return [](ConfigReader& r) { return made<Layer>(convolution_options<Options>(r)); };
}

DISTRIBUTE_INLINE void add_convolutions(LayerMakers& makers) {
  makers["Conv2D"] = convolution_maker<nn::Conv2D, nn::Conv2DLayerOptions>();
  makers["Conv3D"] = convolution_maker<nn::Conv3D, nn::Conv3DOptions>();
  makers["DepthwiseConv1D"] = convolution_maker<nn::DepthwiseConv1D, nn::DepthwiseConv1DOptions>();
  makers["DepthwiseConv2D"] =
      convolution_maker<nn::DepthwiseConv2D, nn::DepthwiseConv2DLayerOptions>();
  makers["SeparableConv1D"] = convolution_maker<nn::SeparableConv1D, nn::SeparableConv1DOptions>();
  makers["SeparableConv2D"] = convolution_maker<nn::SeparableConv2D, nn::SeparableConv2DOptions>();
  makers["Conv1DTranspose"] = convolution_maker<nn::Conv1DTranspose, nn::Conv1DTransposeOptions>();
  makers["Conv2DTranspose"] = convolution_maker<nn::Conv2DTranspose, nn::Conv2DTransposeOptions>();
  makers["Conv3DTranspose"] = convolution_maker<nn::Conv3DTranspose, nn::Conv3DTransposeOptions>();
}

template <typename Layer, typename Options>
LayerMaker pool_maker() {
  return [](ConfigReader& r) {
    Options o;
    r.size("pool_size", o.pool_size);
    r.size("strides", o.strides);
    o.padding = r.padding();
    return made<Layer>(o);
  };
}

/// Reads `output_size` of one, two or three numbers.
template <typename Layer, typename Size>
LayerMaker adaptive_pool_maker() {
  return [](ConfigReader& r) {
    Size size = 1;
    r.size("output_size", size);
    return made<Layer>(size);
  };
}

DISTRIBUTE_INLINE void add_pools(LayerMakers& makers) {
  makers["MaxPooling2D"] = pool_maker<nn::MaxPool2D, nn::Pool2DLayerOptions>();
  makers["AveragePooling2D"] = pool_maker<nn::AveragePooling2D, nn::Pool2DLayerOptions>();
  makers["MaxPooling3D"] = pool_maker<nn::MaxPooling3D, nn::Pool3DLayerOptions>();
  makers["AveragePooling3D"] = pool_maker<nn::AveragePooling3D, nn::Pool3DLayerOptions>();
  makers["GlobalAveragePooling2D"] = global_pool_maker<nn::GlobalAveragePooling2D>();
  makers["GlobalMaxPooling2D"] = global_pool_maker<nn::GlobalMaxPooling2D>();
  makers["GlobalAveragePooling3D"] = global_pool_maker<nn::GlobalAveragePooling3D>();
  makers["GlobalMaxPooling3D"] = global_pool_maker<nn::GlobalMaxPooling3D>();
  makers["AdaptiveAveragePooling1D"] = adaptive_pool_maker<nn::AdaptiveAveragePooling1D, int64_t>();
  makers["AdaptiveAveragePooling2D"] =
      adaptive_pool_maker<nn::AdaptiveAveragePooling2D, nn::Size2D>();
  makers["AdaptiveAveragePooling3D"] =
      adaptive_pool_maker<nn::AdaptiveAveragePooling3D, nn::Size3D>();
  makers["AdaptiveMaxPooling1D"] = adaptive_pool_maker<nn::AdaptiveMaxPooling1D, int64_t>();
  makers["AdaptiveMaxPooling2D"] = adaptive_pool_maker<nn::AdaptiveMaxPooling2D, nn::Size2D>();
  makers["AdaptiveMaxPooling3D"] = adaptive_pool_maker<nn::AdaptiveMaxPooling3D, nn::Size3D>();
}

/// Reads one pair of numbers for each axis, or for one axis the pair alone.
DISTRIBUTE_INLINE std::vector<nn::AxisEdges> edges_of(ConfigReader& r, const char* key,
                                                      size_t axes) {
  const auto* given = r.find(key);
  if (!given) r.refuse(str_cat("no ", key));
  std::vector<nn::AxisEdges> all;
  for (size_t i = 0; i < axes; ++i) {
    const auto& axis = axes == 1 || given->is_number() ? *given : given->at(i);
    all.push_back(axis.is_number() ? nn::AxisEdges(axis.template get<int64_t>())
                                   : nn::AxisEdges(axis.at(0).template get<int64_t>(),
                                                   axis.at(1).template get<int64_t>()));
  }
  return all;
}

/// Makes a layer that takes an array of the edges of each axis.
template <typename Layer, size_t... axis>
LayerMaker edge_maker(const char* key, std::index_sequence<axis...>) {
  return [key](ConfigReader& r) {
    const std::vector<nn::AxisEdges> edges = edges_of(r, key, sizeof...(axis));
    if constexpr (sizeof...(axis) == 1)
      return made<Layer>(edges[0]);
    else
      return made<Layer>(std::array<nn::AxisEdges, sizeof...(axis)>{edges[axis]...});
  };
}

DISTRIBUTE_INLINE void add_edges(LayerMakers& makers) {
  makers["ZeroPadding1D"] = edge_maker<nn::ZeroPadding1D>("padding", std::index_sequence<0>());
  makers["ZeroPadding2D"] = [](auto& r) {
    const auto edges = edges_of(r, "padding", 2);
    return made<nn::ZeroPadding2D>(nn::ZeroPadding2DOptions{
        .rows = {edges[0].before, edges[0].after}, .columns = {edges[1].before, edges[1].after}});
  };
  makers["ZeroPadding3D"] =
      edge_maker<nn::ZeroPadding3D>("padding", std::index_sequence<0, 1, 2>());
  makers["Cropping1D"] = edge_maker<nn::Cropping1D>("cropping", std::index_sequence<0>());
  makers["Cropping2D"] = edge_maker<nn::Cropping2D>("cropping", std::index_sequence<0, 1>());
  makers["Cropping3D"] = edge_maker<nn::Cropping3D>("cropping", std::index_sequence<0, 1, 2>());
}

DISTRIBUTE_INLINE void add_image_makers(LayerMakers& makers) {
  add_convolutions(makers);
  add_pools(makers);
  add_edges(makers);
}

}  // namespace distribute::saving_internal
