#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/activation.hpp>
#include <distribute/nn/activation_layers.hpp>
#include <distribute/nn/bidirectional.hpp>
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/convolution_1d.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/dropout.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/flatten.hpp>
#include <distribute/nn/functional.hpp>
#include <distribute/nn/merging.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/pooling.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/nn/sequential.hpp>
#include <distribute/ops/softmax.hpp>
#include <distribute/saving/detail/layer_config.hpp>
#include <distribute/saving/detail/weight_groups.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

namespace distribute::saving_internal {

using Json = nlohmann::ordered_json;

[[noreturn]] DISTRIBUTE_INLINE void refuse_layer(const nn::Module& layer, const std::string& what) {
  throw UnimplementedError(str_cat("save_model: layer '", layer.name(), "' ", what,
                                   "; save_weights writes the weights of any model"));
}

DISTRIBUTE_INLINE std::vector<std::pair<nn::ActivationFunction, const char*>> activations() {
  using F = nn::ActivationFunction;
  return {{nullptr, "linear"},
          {F(nn::linear), "linear"},
          {F(nn::relu), "relu"},
          {F(nn::relu6), "relu6"},
          {F(nn::leaky_relu), "leaky_relu"},
          {F(nn::elu), "elu"},
          {F(nn::selu), "selu"},
          {F(nn::gelu), "gelu"},
          {F(nn::softplus), "softplus"},
          {F(nn::silu), "silu"},
          {F(nn::sigmoid), "sigmoid"},
          {F(nn::tanh), "tanh"},
          {F(nn::softmax), "softmax"},
          {F(nn::log_softmax), "log_softmax"}};
}

DISTRIBUTE_INLINE std::string activation_name(const nn::Module& layer,
                                              nn::ActivationFunction function) {
  for (const auto& [known, name] : activations())
    if (known == function) return name;
  refuse_layer(layer, "has an activation that Keras does not know by name");
}

DISTRIBUTE_INLINE Json object(const std::string& module, const std::string& name, Json config) {
  return {{"module", module},
          {"class_name", name},
          {"config", std::move(config)},
          {"registered_name", nullptr}};
}

/// One layer with its name and its policy.
DISTRIBUTE_INLINE Json layer_object(const nn::Module& layer, const std::string& name, Json config) {
  Json all = {{"name", layer.name()},
              {"trainable", layer.trainable()},
              {"dtype", layer.dtype_policy().name()}};
  all.update(config);
  return object("keras.layers", name, std::move(all));
}

DISTRIBUTE_INLINE Json pair_of(const nn::Size2D& size) { return {size.height, size.width}; }

DISTRIBUTE_INLINE std::string padding_name(const nn::Module& layer, Padding padding) {
  if (padding == Padding::Explicit) refuse_layer(layer, "has an explicit padding");
  return padding == Padding::Same ? "same" : "valid";
}

/// What two-dimensional convolutions share.
template <typename Options>
DISTRIBUTE_INLINE Json convolution_config(const nn::Module& layer, const Options& o,
                                          Padding padding) {
  return {{"kernel_size", pair_of(o.kernel_size)},
          {"strides", pair_of(o.strides)},
          {"padding", padding_name(layer, padding)},
          {"dilation_rate", pair_of(o.dilation_rate)},
          {"activation", activation_name(layer, o.activation)},
          {"use_bias", o.use_bias}};
}

/// Appends the layers that stand for one of ours, where it is a convolution.
DISTRIBUTE_INLINE bool add_convolution(const nn::Module& layer, Json& layers) {
  if (const auto* conv = dynamic_cast<const nn::Conv2D*>(&layer)) {
    const auto& o = conv->options();
    Padding padding = o.padding;
    if (padding == Padding::Explicit) {
      const auto& e = o.explicit_paddings;
      Json edges = Json::array({Json::array({e[0], e[1]}), Json::array({e[2], e[3]})});
      layers.push_back(object("keras.layers", "ZeroPadding2D",
                              {{"name", layer.name() + "_padding"}, {"padding", edges}}));
      padding = Padding::Valid;
    }
    Json config = convolution_config(layer, o, padding);
    config["filters"] = o.filters;
    config["groups"] = o.groups;
    layers.push_back(layer_object(layer, "Conv2D", config));
  } else if (const auto* depthwise = dynamic_cast<const nn::DepthwiseConv2D*>(&layer)) {
    Json config = convolution_config(layer, depthwise->options(), depthwise->options().padding);
    config["depth_multiplier"] = depthwise->options().depth_multiplier;
    layers.push_back(layer_object(layer, "DepthwiseConv2D", config));
  } else if (const auto* separable = dynamic_cast<const nn::SeparableConv2D*>(&layer)) {
    Json config = convolution_config(layer, separable->options(), separable->options().padding);
    config["filters"] = separable->options().filters;
    config["depth_multiplier"] = separable->options().depth_multiplier;
    layers.push_back(layer_object(layer, "SeparableConv2D", config));
  } else if (const auto* one = dynamic_cast<const nn::Conv1D*>(&layer)) {
    const auto& o = one->options();
    const std::array<const char*, 3> paddings = {"valid", "same", "causal"};
    layers.push_back(layer_object(layer, "Conv1D",
                                  {{"filters", o.filters},
                                   {"kernel_size", o.kernel_size},
                                   {"strides", o.strides},
                                   {"padding", paddings[size_t(o.padding)]},
                                   {"dilation_rate", o.dilation_rate},
                                   {"groups", o.groups},
                                   {"activation", activation_name(layer, o.activation)},
                                   {"use_bias", o.use_bias}}));
  } else {
    return false;
  }
  return true;
}

template <typename Layer>
DISTRIBUTE_INLINE bool add_pool(const nn::Module& layer, const char* name, Json& layers) {
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
         add_pool<nn::GlobalAveragePooling1D>(layer, "GlobalAveragePooling1D", layers) ||
         add_pool<nn::GlobalMaxPooling1D>(layer, "GlobalMaxPooling1D", layers);
}

DISTRIBUTE_INLINE Json recurrent_object(const nn::RecurrentLayer& layer) {
  const auto& [step, common, unit_forget_bias] = layer.options();
  const std::string kind = layer.class_name();
  Json config = {{"units", common.units},
                 {"activation", activation_name(layer, step.activation)},
                 {"use_bias", common.use_bias},
                 {"dropout", common.dropout},
                 {"return_sequences", step.return_sequences},
                 {"go_backwards", step.go_backwards},
                 {"zero_output_for_mask", step.zero_output_for_mask}};
  if (kind == "simple_rnn") return layer_object(layer, "SimpleRNN", config);
  config["recurrent_activation"] = activation_name(layer, step.recurrent_activation);
  if (kind == "lstm") config["unit_forget_bias"] = unit_forget_bias;
  if (kind == "gru") config["reset_after"] = step.cell == nn::RecurrentCell::Gru;
  return layer_object(layer, kind == "lstm" ? "LSTM" : "GRU", config);
}

DISTRIBUTE_INLINE bool add_recurrent(const nn::Module& layer, Json& layers) {
  if (const auto* recurrent = dynamic_cast<const nn::RecurrentLayer*>(&layer)) {
    layers.push_back(recurrent_object(*recurrent));
    return true;
  }
  const auto* both = dynamic_cast<const nn::Bidirectional*>(&layer);
  if (!both) return false;
  const std::array<const char*, 4> modes = {"concat", "sum", "mul", "ave"};
  layers.push_back(layer_object(layer, "Bidirectional",
                                {{"merge_mode", modes[size_t(both->merge_mode())]},
                                 {"layer", recurrent_object(both->forward_layer())}}));
  return true;
}

DISTRIBUTE_INLINE bool add_normalization(const nn::Module& layer, Json& layers) {
  if (const auto* batch = dynamic_cast<const nn::BatchNormalization*>(&layer)) {
    const auto& o = batch->options();
    layers.push_back(layer_object(layer, "BatchNormalization",
                                  {{"momentum", o.momentum},
                                   {"epsilon", o.epsilon},
                                   {"center", o.center},
                                   {"scale", o.scale},
                                   {"synchronized", o.synchronized}}));
    if (o.activation)
      layers.push_back(object("keras.layers", "Activation",
                              {{"name", layer.name() + "_activation"},
                               {"activation", activation_name(layer, o.activation)}}));
    return true;
  }
  const auto* norm = dynamic_cast<const nn::LayerNormalization*>(&layer);
  if (!norm) return false;
  const auto& o = norm->options();
  layers.push_back(layer_object(
      layer, "LayerNormalization",
      {{"axis", o.axis.list}, {"epsilon", o.epsilon}, {"center", o.center}, {"scale", o.scale}}));
  return true;
}

DISTRIBUTE_INLINE bool add_function(const nn::Module& layer, Json& layers) {
  const auto push = [&](const char* name, Json config) {
    layers.push_back(layer_object(layer, name, std::move(config)));
    return true;
  };
  if (const auto* activation = dynamic_cast<const nn::Activation*>(&layer))
    return push("Activation", {{"activation", activation_name(layer, activation->function())}});
  if (const auto* relu = dynamic_cast<const nn::ReLU*>(&layer)) {
    const auto& o = relu->options();
    const Json most = o.max_value ? Json(*o.max_value) : Json(nullptr);
    return push(
        "ReLU",
        {{"max_value", most}, {"negative_slope", o.negative_slope}, {"threshold", o.threshold}});
  }
  if (const auto* leaky = dynamic_cast<const nn::LeakyReLU*>(&layer))
    return push("LeakyReLU", {{"negative_slope", leaky->negative_slope()}});
  if (const auto* prelu = dynamic_cast<const nn::PReLU*>(&layer)) {
    const auto& shared = prelu->options().shared_axes;
    return push("PReLU", {{"shared_axes", shared.empty() ? Json(nullptr) : Json(shared)}});
  }
  if (const auto* softmax = dynamic_cast<const nn::Softmax*>(&layer))
    return push("Softmax", {{"axis", softmax->axis()}});
  if (const auto* dropout = dynamic_cast<const nn::Dropout*>(&layer))
    return push("Dropout", {{"rate", dropout->rate()}});
  if (dynamic_cast<const nn::Flatten*>(&layer)) return push("Flatten", Json::object());
  if (const auto* shape = dynamic_cast<const nn::Reshape*>(&layer))
    return push("Reshape", {{"target_shape", shape->target_shape()}});
  return false;
}

DISTRIBUTE_INLINE bool add_product(const nn::Module& layer, Json& layers) {
  if (const auto* dense = dynamic_cast<const nn::Dense*>(&layer)) {
    const auto& o = dense->options();
    layers.push_back(layer_object(layer, "Dense",
                                  {{"units", o.units},
                                   {"activation", activation_name(layer, o.activation)},
                                   {"use_bias", o.use_bias}}));
    return true;
  }
  const auto* embedding = dynamic_cast<const nn::Embedding*>(&layer);
  if (!embedding) return false;
  const auto& o = embedding->options();
  layers.push_back(layer_object(
      layer, "Embedding",
      {{"input_dim", o.input_dim}, {"output_dim", o.output_dim}, {"mask_zero", o.mask_zero}}));
  return true;
}

DISTRIBUTE_INLINE bool add_merging(const nn::Module& layer, Json& layers) {
  if (const auto* joined = dynamic_cast<const nn::Concatenate*>(&layer)) {
    layers.push_back(layer_object(layer, "Concatenate", {{"axis", joined->axis()}}));
    return true;
  }
  if (!dynamic_cast<const nn::Merge*>(&layer)) return false;
  std::string name = layer.class_name();
  name[0] = char(std::toupper(name[0]));
  layers.push_back(layer_object(layer, name, Json::object()));
  return true;
}

DISTRIBUTE_INLINE Json sequential_object(const nn::Sequential& model);
DISTRIBUTE_INLINE Json functional_object(const nn::Functional& model);

/// Appends what stands for a layer, also a model.
DISTRIBUTE_INLINE void add_layer(const nn::Module& layer, Json& layers) {
  if (const auto* inner = dynamic_cast<const nn::Sequential*>(&layer))
    layers.push_back(sequential_object(*inner));
  else if (const auto* graph = dynamic_cast<const nn::Functional*>(&layer))
    layers.push_back(functional_object(*graph));
  else if (!add_product(layer, layers) && !add_convolution(layer, layers) &&
           !add_any_pool(layer, layers) && !add_recurrent(layer, layers) &&
           !add_normalization(layer, layers) && !add_function(layer, layers) &&
           !add_merging(layer, layers))
    refuse_layer(layer, str_cat("is a ", layer.class_name(), ", which has no configuration here"));
}

/// Sizes with none for the batch.
DISTRIBUTE_INLINE Json batch_shape(const Shape& sizes) {
  Json shape = std::vector<int64_t>(sizes.begin(), sizes.end());
  if (sizes.rank() > 0) shape[0] = nullptr;
  return shape;
}

DISTRIBUTE_INLINE Json input_object(const std::string& name, const nn::InputSpec& spec) {
  return object(
      "keras.layers", "InputLayer",
      {{"batch_shape", batch_shape(spec.shape)}, {"dtype", name_of(spec.dtype)}, {"name", name}});
}

DISTRIBUTE_INLINE Json sequential_object(const nn::Sequential& model) {
  const auto input = model.input_spec();
  if (!input)
    throw FailedPreconditionError(
        str_cat("save_model: '", model.name(), "' was never called; call it once before"));
  const Json shape = batch_shape(input->shape);
  Json layers = Json::array();
  layers.push_back(input_object(model.name() + "_input", *input));
  for (size_t i = 0; i < model.size(); ++i) add_layer(model[i], layers);
  Json config = {{"name", model.name()},
                 {"trainable", model.trainable()},
                 {"dtype", model.dtype_policy().name()},
                 {"layers", std::move(layers)},
                 {"build_input_shape", shape}};
  Json all = object("keras", "Sequential", std::move(config));
  all["build_config"] = {{"input_shape", shape}};
  return all;
}

/// Where the nodes of a graph come from, in Keras's words: layer, number of its call, output.
DISTRIBUTE_INLINE std::map<size_t, Json> histories_of(const nn::Functional& model) {
  std::map<size_t, Json> histories;
  for (size_t i = 0; i < model.input_nodes().size(); ++i)
    histories[model.input_nodes()[i]] = {model.input_names()[i], 0, 0};
  std::map<const nn::Module*, int64_t> calls;
  for (const nn::Functional::Step& step : model.steps())
    histories[step.result] = {step.layer->name(), calls[step.layer]++, 0};
  return histories;
}

/// The inputs of one call.
DISTRIBUTE_INLINE Json call_object(const nn::Functional& model, const nn::Functional::Step& step,
                                   const std::map<size_t, Json>& histories) {
  Json tensors = Json::array();
  for (const size_t node : step.inputs) {
    const nn::InputSpec spec = model.node_spec(node);
    Json config = {{"shape", batch_shape(spec.shape)},
                   {"dtype", name_of(spec.dtype)},
                   {"keras_history", histories.at(node)}};
    tensors.push_back({{"class_name", "__keras_tensor__"}, {"config", std::move(config)}});
  }
  Json arguments = tensors.size() == 1 ? tensors : Json::array({tensors});
  return {{"args", std::move(arguments)}, {"kwargs", Json::object()}};
}

/// One end of a graph: its history, or those of several by name.
DISTRIBUTE_INLINE Json ends_object(const std::vector<std::string>& names,
                                   const std::vector<size_t>& nodes,
                                   const std::map<size_t, Json>& histories) {
  if (nodes.size() == 1) return histories.at(nodes[0]);
  Json ends = Json::object();
  for (size_t i = 0; i < nodes.size(); ++i) ends[names[i]] = histories.at(nodes[i]);
  return ends;
}

DISTRIBUTE_INLINE Json functional_object(const nn::Functional& model) {
  const std::map<size_t, Json> histories = histories_of(model);
  Json layers = Json::array();
  const auto push = [&](Json layer, Json calls) {
    layer["name"] = layer.at("config").at("name");
    layer["inbound_nodes"] = std::move(calls);
    layers.push_back(std::move(layer));
  };
  for (size_t i = 0; i < model.input_nodes().size(); ++i)
    push(input_object(model.input_names()[i], model.node_spec(model.input_nodes()[i])),
         Json::array());
  const std::vector<const nn::Module*> in_order = layers_in_order(model);
  for (const nn::Functional::Step& step : model.steps())
    if (std::find(in_order.begin(), in_order.end(), step.layer) == in_order.end())
      refuse_layer(*step.layer, "leads to no output");
  for (const nn::Module* layer : in_order) {
    Json described = Json::array(), calls = Json::array();
    add_layer(*layer, described);
    if (described.size() != 1)
      refuse_layer(*layer,
                   "is two layers in Keras; give it a layer of its own for its activation "
                   "or padding");
    for (const nn::Functional::Step& step : model.steps())
      if (step.layer == layer) calls.push_back(call_object(model, step, histories));
    push(std::move(described[0]), std::move(calls));
  }
  return object(
      "keras.src.models.functional", "Functional",
      {{"name", model.name()},
       {"trainable", model.trainable()},
       {"layers", std::move(layers)},
       {"input_layers", ends_object(model.input_names(), model.input_nodes(), histories)},
       {"output_layers", ends_object(model.output_names(), model.output_nodes(), histories)}});
}

DISTRIBUTE_INLINE std::string model_config(const nn::Module& model) {
  if (const auto* sequential = dynamic_cast<const nn::Sequential*>(&model))
    return sequential_object(*sequential).dump();
  if (const auto* graph = dynamic_cast<const nn::Functional*>(&model))
    return functional_object(*graph).dump();
  throw UnimplementedError(str_cat("save_model: '", model.name(), "' is a ", model.class_name(),
                                   ", and only a Sequential or a Functional can be described for ",
                                   "Keras; save_weights writes the weights of any model"));
}

}  // namespace distribute::saving_internal
