#pragma once
#include <distribute/nn/activation.hpp>
#include <distribute/nn/activation_layers.hpp>
#include <distribute/nn/bidirectional.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/convolution_1d.hpp>
#include <distribute/nn/convolution_transpose.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/flatten.hpp>
#include <distribute/nn/merging.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/saving/detail/config_reader.hpp>
#include <distribute/saving/detail/layer_maker.hpp>

#include <array>
#include <functional>
#include <map>

#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

using LayerMaker = std::function<MadeLayer(ConfigReader&)>;
using LayerMakers = std::map<std::string, LayerMaker>;

template <typename Layer, typename... Arguments>
MadeLayer made(Arguments&&... arguments) {
  return std::make_unique<Layer>(std::forward<Arguments>(arguments)...);
}

/// What two-dimensional convolutions share.
template <typename Options>
Options convolution_options(ConfigReader& r) {
  Options o;
  o.kernel_size = r.pair("kernel_size");
  o.strides = r.pair("strides");
  o.padding = r.padding();
  o.dilation_rate = r.pair("dilation_rate");
  o.activation = r.activation();
  o.use_bias = r.get("use_bias", true);
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

DISTRIBUTE_INLINE int64_t single_of(ConfigReader& r, const std::string& key, int64_t otherwise) {
  const auto* value = r.find(key);
  if (!value) return otherwise;
  return value->is_array() ? value->at(0).get<int64_t>() : value->get<int64_t>();
}

DISTRIBUTE_INLINE MadeLayer make_conv1d(ConfigReader& r) {
  nn::Conv1DOptions o;
  o.filters = r.get<int64_t>("filters", 0);
  o.kernel_size = single_of(r, "kernel_size", 1);
  o.strides = single_of(r, "strides", 1);
  o.dilation_rate = single_of(r, "dilation_rate", 1);
  o.groups = r.get<int64_t>("groups", 1);
  o.activation = r.activation();
  o.use_bias = r.get("use_bias", true);
  const std::string padding = r.get<std::string>("padding", "valid");
  if (padding == "causal")
    o.padding = nn::Padding1D::Causal;
  else
    o.padding = r.padding() == Padding::Same ? nn::Padding1D::Same : nn::Padding1D::Valid;
  return made<nn::Conv1D>(o);
}

DISTRIBUTE_INLINE void add_convolutions(LayerMakers& makers) {
  makers["Conv2D"] = [](auto& r) {
    return made<nn::Conv2D>(convolution_options<nn::Conv2DLayerOptions>(r));
  };
  makers["DepthwiseConv2D"] = [](auto& r) {
    return made<nn::DepthwiseConv2D>(convolution_options<nn::DepthwiseConv2DLayerOptions>(r));
  };
  makers["SeparableConv2D"] = [](auto& r) {
    return made<nn::SeparableConv2D>(convolution_options<nn::SeparableConv2DOptions>(r));
  };
  makers["Conv2DTranspose"] = [](auto& r) {
    return made<nn::Conv2DTranspose>(convolution_options<nn::Conv2DTransposeOptions>(r));
  };
  makers["Conv1D"] = make_conv1d;
}

template <typename Layer>
LayerMaker pool_maker() {
  return [](ConfigReader& r) {
    nn::Pool2DLayerOptions o;
    o.pool_size = r.pair("pool_size");
    o.strides = r.maybe_pair("strides");
    o.padding = r.padding();
    return made<Layer>(o);
  };
}

template <typename Layer>
LayerMaker sequence_pool_maker() {
  return [](ConfigReader& r) {
    nn::Pool1DLayerOptions o;
    o.pool_size = single_of(r, "pool_size", 2);
    o.strides = single_of(r, "strides", o.pool_size);
    o.padding = r.padding();
    return made<Layer>(o);
  };
}

template <typename Layer>
LayerMaker global_pool_maker() {
  return [](ConfigReader& r) {
    return made<Layer>(nn::GlobalPoolLayerOptions{.keepdims = r.get("keepdims", false)});
  };
}

DISTRIBUTE_INLINE void add_pools(LayerMakers& makers) {
  makers["MaxPooling2D"] = pool_maker<nn::MaxPool2D>();
  makers["AveragePooling2D"] = pool_maker<nn::AveragePooling2D>();
  makers["MaxPooling1D"] = sequence_pool_maker<nn::MaxPooling1D>();
  makers["AveragePooling1D"] = sequence_pool_maker<nn::AveragePooling1D>();
  makers["GlobalAveragePooling2D"] = global_pool_maker<nn::GlobalAveragePooling2D>();
  makers["GlobalMaxPooling2D"] = global_pool_maker<nn::GlobalMaxPooling2D>();
  makers["GlobalAveragePooling1D"] = global_pool_maker<nn::GlobalAveragePooling1D>();
  makers["GlobalMaxPooling1D"] = global_pool_maker<nn::GlobalMaxPooling1D>();
}

/// What recurrent layers share.
template <typename Options>
Options recurrent_options(ConfigReader& r) {
  Options o;
  o.units = r.get<int64_t>("units", 0);
  o.activation = r.activation();
  o.use_bias = r.get("use_bias", true);
  o.dropout = r.get("dropout", 0.0);
  if (r.get("recurrent_dropout", 0.0) != 0) r.refuse("option 'recurrent_dropout'");
  o.return_sequences = r.get("return_sequences", false);
  o.go_backwards = r.get("go_backwards", false);
  o.zero_output_for_mask = r.get("zero_output_for_mask", false);
  if constexpr (requires { o.recurrent_activation; })
    o.recurrent_activation = r.activation("recurrent_activation");
  if constexpr (requires { o.unit_forget_bias; })
    o.unit_forget_bias = r.get("unit_forget_bias", true);
  if constexpr (requires { o.reset_after; }) o.reset_after = r.get("reset_after", true);
  return o;
}

/// The options that must be equal in a layer and its twin for the other direction.
DISTRIBUTE_INLINE ConfigReader::Json without_direction(const ConfigReader::Json& layer) {
  ConfigReader::Json alike = {{"class_name", layer.at("class_name")}};
  for (const auto& [key, value] : layer.at("config").items())
    if (key != "name" && key != "go_backwards" && key != "dtype" && !key.ends_with("_initializer"))
      alike[key] = value;
  return alike;
}

DISTRIBUTE_INLINE MadeLayer make_bidirectional(ConfigReader& r) {
  const std::map<std::string, nn::MergeMode> modes = {{"concat", nn::MergeMode::Concat},
                                                      {"sum", nn::MergeMode::Sum},
                                                      {"mul", nn::MergeMode::Mul},
                                                      {"ave", nn::MergeMode::Ave}};
  const auto mode = modes.find(r.get<std::string>("merge_mode", "none"));
  if (mode == modes.end()) r.refuse("this merge_mode");
  const auto* inner = r.find("layer");
  if (!inner) r.refuse("a wrapper without a layer");
  const auto* backward = r.find("backward_layer");
  if (backward && without_direction(*backward) != without_direction(*inner))
    r.refuse("a backward layer with options of its own");
  const MadeLayer layer = make_layer(*inner);
  const auto* recurrent = dynamic_cast<const nn::RecurrentLayer*>(layer.get());
  if (!recurrent) r.refuse("an inner layer that is not recurrent");
  return made<nn::Bidirectional>(*recurrent, nn::BidirectionalOptions{.merge_mode = mode->second});
}

DISTRIBUTE_INLINE void add_recurrent_layers(LayerMakers& makers) {
  makers["SimpleRNN"] = [](auto& r) {
    return made<nn::SimpleRNN>(recurrent_options<nn::SimpleRNNOptions>(r));
  };
  makers["LSTM"] = [](auto& r) { return made<nn::LSTM>(recurrent_options<nn::LSTMOptions>(r)); };
  makers["GRU"] = [](auto& r) { return made<nn::GRU>(recurrent_options<nn::GRUOptions>(r)); };
  makers["Bidirectional"] = make_bidirectional;
}

DISTRIBUTE_INLINE void add_normalizations(LayerMakers& makers) {
  makers["BatchNormalization"] = [](auto& r) {
    if (single_of(r, "axis", -1) != -1 && single_of(r, "axis", -1) != 3)
      r.refuse("an axis that is not the last");
    if (!r.get("renorm", false)) r.find("renorm_momentum");  // says nothing then
    nn::BatchNormalizationOptions o;
    o.momentum = r.get("momentum", 0.99);
    o.epsilon = r.get("epsilon", 1e-3);
    o.center = r.get("center", true);
    o.scale = r.get("scale", true);
    o.synchronized = r.get("synchronized", false);
    return made<nn::BatchNormalization>(o);
  };
  makers["LayerNormalization"] = [](auto& r) {
    nn::LayerNormalizationOptions o;
    if (const auto* axis = r.find("axis"))
      o.axis.list = axis->is_array() ? axis->template get<std::vector<int>>()
                                     : std::vector<int>{axis->template get<int>()};
    o.epsilon = r.get("epsilon", 1e-3);
    o.center = r.get("center", true);
    o.scale = r.get("scale", true);
    return made<nn::LayerNormalization>(o);
  };
}

DISTRIBUTE_INLINE void add_functions(LayerMakers& makers) {
  makers["Activation"] = [](auto& r) { return made<nn::Activation>(r.activation()); };
  makers["ReLU"] = [](auto& r) {
    nn::ReLUOptions o;
    o.max_value = r.maybe_number("max_value");
    o.negative_slope = r.get("negative_slope", 0.0);
    o.threshold = r.get("threshold", 0.0);
    return made<nn::ReLU>(o);
  };
  makers["LeakyReLU"] = [](auto& r) {
    return made<nn::LeakyReLU>(
        nn::LeakyReLUOptions{.negative_slope = r.get("negative_slope", 0.3)});
  };
  makers["PReLU"] = [](auto& r) {
    nn::PReLUOptions o;
    o.shared_axes = r.get("shared_axes", std::vector<int>());
    return made<nn::PReLU>(o);
  };
  makers["Softmax"] = [](auto& r) {
    return made<nn::Softmax>(nn::SoftmaxOptions{.axis = r.get("axis", -1)});
  };
  makers["Dropout"] = [](auto& r) {
    return made<nn::Dropout>(nn::DropoutOptions{.rate = r.get("rate", 0.5)});
  };
}

DISTRIBUTE_INLINE void add_shapes(LayerMakers& makers) {
  makers["Flatten"] = [](auto&) { return made<nn::Flatten>(); };
  makers["Reshape"] = [](auto& r) {
    return made<nn::Reshape>(r.get("target_shape", std::vector<int64_t>()));
  };
  makers["Permute"] = [](auto& r) { return made<nn::Permute>(r.get("dims", std::vector<int>())); };
  makers["RepeatVector"] = [](auto& r) {
    return made<nn::RepeatVector>(r.template get<int64_t>("n", 1));
  };
  makers["ZeroPadding2D"] = [](auto& r) {
    using Edges = std::array<std::array<int64_t, 2>, 2>;
    const auto* given = r.find("padding");
    const Edges edges = given ? given->template get<Edges>() : Edges{{{1, 1}, {1, 1}}};
    return made<nn::ZeroPadding2D>(nn::ZeroPadding2DOptions{.rows = edges[0], .columns = edges[1]});
  };
  makers["UpSampling2D"] = [](auto& r) {
    if (r.template get<std::string>("interpolation", "nearest") != "nearest")
      r.refuse("this interpolation");
    return made<nn::UpSampling2D>(r.pair("size"));
  };
}

DISTRIBUTE_INLINE void add_merges(LayerMakers& makers) {
  using F = nn::MergeFunction;
  for (const auto& [name, function] : std::map<std::string, F>{{"Add", F::Add},
                                                               {"Subtract", F::Subtract},
                                                               {"Multiply", F::Multiply},
                                                               {"Average", F::Average},
                                                               {"Maximum", F::Maximum},
                                                               {"Minimum", F::Minimum}})
    makers[name] = [function = function](auto&) { return made<nn::Merge>(function); };
  makers["Concatenate"] = [](auto& r) {
    return made<nn::Concatenate>(nn::ConcatenateOptions{.axis = r.get("axis", -1)});
  };
}

DISTRIBUTE_INLINE void add_products(LayerMakers& makers) {
  makers["Dense"] = [](auto& r) {
    nn::DenseOptions o;
    o.units = r.template get<int64_t>("units", 0);
    o.activation = r.activation();
    o.use_bias = r.get("use_bias", true);
    return made<nn::Dense>(o);
  };
  makers["Embedding"] = [](auto& r) {
    nn::EmbeddingOptions o;
    o.input_dim = r.template get<int64_t>("input_dim", 0);
    o.output_dim = r.template get<int64_t>("output_dim", 0);
    o.mask_zero = r.get("mask_zero", false);
    return made<nn::Embedding>(o);
  };
}

DISTRIBUTE_INLINE const LayerMakers& layer_makers() {
  static const LayerMakers makers = [] {
    LayerMakers all;
    add_products(all);
    add_convolutions(all);
    add_pools(all);
    add_recurrent_layers(all);
    add_normalizations(all);
    add_functions(all);
    add_shapes(all);
    add_merges(all);
    return all;
  }();
  return makers;
}

DISTRIBUTE_INLINE MadeLayer make_layer(const ConfigReader::Json& object) {
  ConfigReader reader(object);
  const auto maker = layer_makers().find(reader.class_name());
  if (maker == layer_makers().end()) reader.refuse("the layer");
  MadeLayer layer = maker->second(reader);
  reader.finish(*layer);
  return layer;
}

}  // namespace distribute::saving_internal
