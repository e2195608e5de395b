#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/attention.hpp>
#include <distribute/nn/attention_layers.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/saving/detail/config_writer.hpp>
#include <distribute/saving/detail/layer_config.hpp>
#include <distribute/saving/detail/model_config.hpp>
#include <distribute/saving/detail/operation_merge.hpp>
#include <distribute/saving/detail/weight_groups.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

using Json = nlohmann::ordered_json;

DISTRIBUTE_INLINE Json input_object(const std::string& name, const nn::InputSpec& spec,
                                    std::optional<int64_t> batch) {
  return keras_object("keras.layers", "InputLayer",
                      {{"batch_shape", batch_shape(spec.shape, batch)},
                       {"dtype", name_of(spec.dtype)},
                       {"name", name}});
}

/// Returns a layer that is stateful; null if there is none.
DISTRIBUTE_INLINE const nn::Module* stateful_layer(const nn::Module& module) {
  const auto* recurrent = dynamic_cast<const nn::RecurrentBase*>(&module);
  if (recurrent && recurrent->stateful()) return recurrent;
  for (const auto& child : module.children())
    if (const auto* part = dynamic_cast<const nn::Module*>(child.object))
      if (const nn::Module* found = stateful_layer(*part)) return found;
  return nullptr;
}

DISTRIBUTE_INLINE Json sequential_object(const nn::Sequential& model) {
  const auto input = model.input_spec();
  if (!input)
    throw FailedPreconditionError(
        str_cat("save_model: '", model.name(), "' was never called; call it once before"));
  std::optional<int64_t> batch = model.batch_size();
  if (!batch && stateful_layer(model)) batch = input->shape[0];
  const Json shape = batch_shape(input->shape, batch);
  Json layers = Json::array();
  layers.push_back(input_object(model.name() + "_input", *input, batch));
  for (size_t i = 0; i < model.size(); ++i) {
    if (dynamic_cast<const nn::MultiHeadAttention*>(&model[i]))
      refuse_layer(model[i], "takes two tensors in Keras, so apply it in a Functional");
    add_layer(model[i], layers);
  }
  Json config = {{"name", model.name()},
                 {"trainable", model.trainable()},
                 {"dtype", model.dtype_policy().name()},
                 {"layers", std::move(layers)},
                 {"build_input_shape", shape}};
  Json all = keras_object("keras", "Sequential", std::move(config));
  all["build_config"] = {{"input_shape", shape}};
  return all;
}

DISTRIBUTE_INLINE bool is_graph(const nn::Module& layer) {
  return dynamic_cast<const nn::Functional*>(&layer) != nullptr;
}

/// Keras numbers results by the order of their names.
DISTRIBUTE_INLINE int64_t place_of_output(const nn::Module& layer, size_t output) {
  const auto* graph = dynamic_cast<const nn::Functional*>(&layer);
  if (!graph) return int64_t(output);
  const std::vector<std::string>& names = graph->output_names();
  return std::ranges::count_if(names, [&](const auto& name) { return name < names[output]; });
}

/// Returns the sources of a graph's nodes, in Keras's form: layer, number of its call, output.
DISTRIBUTE_INLINE std::map<size_t, Json> histories_of(const nn::Functional& model) {
  std::map<size_t, Json> histories;
  for (size_t i = 0; i < model.input_nodes().size(); ++i)
    histories[model.input_nodes()[i]] = {model.input_names()[i], 0, 0};
  std::map<const nn::Module*, int64_t> calls;
  for (const nn::Functional::Step& step : model.steps()) {
    for (size_t i = 0; i < step.num_results; ++i)
      histories[step.result + i] = {step.layer->name(), calls[step.layer],
                                    place_of_output(*step.layer, i)};
    ++calls[step.layer];
  }
  return histories;
}

/// The arguments of one call: Keras's attention takes query, value and key by themselves, so do
/// operations, and layers of several inputs take a list.
DISTRIBUTE_INLINE Json arguments_of(const nn::Functional::Step& step, Json tensors) {
  const auto* attention = dynamic_cast<const nn::MultiHeadAttention*>(step.layer);
  if (dynamic_cast<const OperationMerge*>(step.layer))
    return {{"args", std::move(tensors)}, {"kwargs", Json::object()}};
  if (const auto* graph = dynamic_cast<const nn::Functional*>(step.layer);
      graph && tensors.size() > 1) {
    Json by_name = Json::object();
    for (size_t i = 0; i < tensors.size(); ++i)
      by_name[graph->input_names()[i]] = std::move(tensors[i]);
    return {{"args", Json::array({std::move(by_name)})}, {"kwargs", Json::object()}};
  }
  if (!attention) {
    const auto* averages = dynamic_cast<const nn::AttentionLayer*>(step.layer);
    Json list = tensors.size() == 1 ? std::move(tensors) : Json::array({std::move(tensors)});
    Json options = Json::object();
    if (averages && averages->use_causal_mask()) options["use_causal_mask"] = true;
    return {{"args", std::move(list)}, {"kwargs", std::move(options)}};
  }
  if (tensors.size() == 1) tensors.push_back(Json(tensors[0]));
  Json options = Json::object();
  if (attention->options().use_causal_mask) options["use_causal_mask"] = true;
  return {{"args", std::move(tensors)}, {"kwargs", std::move(options)}};
}

/// The inputs of one call.
DISTRIBUTE_INLINE Json call_object(const nn::Functional& model, const nn::Functional::Step& step,
                                   const std::map<size_t, Json>& histories) {
  Json tensors = Json::array();
  for (const size_t node : step.inputs) {
    const nn::InputSpec spec = model.node_spec(node);
    Json config = {{"shape", batch_shape(spec.shape, model.batch_size(node))},
                   {"dtype", name_of(spec.dtype)},
                   {"keras_history", histories.at(node)}};
    tensors.push_back({{"class_name", "__keras_tensor__"}, {"config", std::move(config)}});
  }
  return arguments_of(step, std::move(tensors));
}

/// Returns the inputs or outputs of a graph: one history, or several by name. Keras counts the
/// calls of an inner model from 1 here, and from 0 between layers.
DISTRIBUTE_INLINE Json ends_object(const nn::Functional& model,
                                   const std::vector<std::string>& names,
                                   const std::vector<size_t>& nodes,
                                   std::map<size_t, Json> histories) {
  for (const nn::Functional::Step& step : model.steps())
    for (size_t i = 0; i < step.num_results && is_graph(*step.layer); ++i) {
      Json& history = histories.at(step.result + i);
      history[1] = history[1].get<int64_t>() + 1;
    }
  if (nodes.size() == 1) return histories.at(nodes[0]);
  Json ends = Json::object();
  for (size_t i = 0; i < nodes.size(); ++i) ends[names[i]] = histories.at(nodes[i]);
  return ends;
}

DISTRIBUTE_INLINE Json functional_object(const nn::Functional& model) {
  for (const nn::Functional::Step& step : model.steps())
    if (const auto* layer = stateful_layer(*step.layer);
        layer && !model.batch_size(step.inputs.at(0)))
      refuse_layer(*layer,
                   str_cat("is stateful, and Keras then wants the number of examples of a ",
                           "batch: give it to input() of '", model.name(), "' as batch_size"));
  const std::map<size_t, Json> histories = histories_of(model);
  Json layers = Json::array();
  const auto push = [&](Json layer, Json calls) {
    layer["name"] = layer.at("config").at("name");
    layer["inbound_nodes"] = std::move(calls);
    layers.push_back(std::move(layer));
  };
  for (size_t i = 0; i < model.input_nodes().size(); ++i)
    push(input_object(model.input_names()[i], model.node_spec(model.input_nodes()[i]),
                      model.batch_size(model.input_nodes()[i])),
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
  return keras_object(
      "keras.src.models.functional", "Functional",
      {{"name", model.name()},
       {"trainable", model.trainable()},
       {"layers", std::move(layers)},
       {"input_layers", ends_object(model, model.input_names(), model.input_nodes(), histories)},
       {"output_layers",
        ends_object(model, model.output_names(), model.output_nodes(), histories)}});
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
