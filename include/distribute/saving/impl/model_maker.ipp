#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/attention.hpp>
#include <distribute/nn/attention_layers.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/reshaping.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/saving/detail/layer_maker.hpp>
#include <distribute/saving/detail/model_maker.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

using Json = nlohmann::ordered_json;

DISTRIBUTE_INLINE MadeLayer make_any(const Json& object);

/// Returns the first of [3, 28, 28]; nullopt if it is null.
DISTRIBUTE_INLINE std::optional<int64_t> batch_size(const Json& sizes) {
  return sizes.at(0).is_null() ? std::nullopt : std::optional(sizes[0].get<int64_t>());
}

/// [null, 28, 28] with a batch of 1.
DISTRIBUTE_INLINE Shape example_shape(const Json& sizes) {
  Shape shape;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0 && sizes[i].is_null())
      throw UnimplementedError("load_model: an input of no fixed shape, " + sizes.dump() +
                               "; build the model in the program, and load_weights fills it");
    shape.push_back(i == 0 ? batch_size(sizes).value_or(1) : sizes[i].get<int64_t>());
  }
  return shape;
}

DISTRIBUTE_INLINE DType input_dtype(const Json& config) {
  const std::string name = config.value("dtype", "float32");
  for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16, DType::Int32,
                            DType::Int64, DType::UInt8, DType::Bool})
    if (name == name_of(dtype)) return dtype;
  const std::string cure =
      name == "string" ? "; layers of texts such as TextVectorization are called in a map of the "
                         "dataset here (preprocessing::): save the model that begins behind them, "
                         "and load that"
                       : "";
  throw UnimplementedError(
      str_cat("load_model: input '", config.value("name", ""), "' takes ", name, cure));
}

DISTRIBUTE_INLINE MadeLayer make_sequential(const Json& object) {
  const Json& config = object.at("config");
  auto model = std::make_unique<nn::Sequential>();
  Json input = {{"batch_shape", config.value("build_input_shape", Json())}};
  for (const Json& layer : config.at("layers")) {
    if (layer.at("class_name") == "InputLayer")
      input = layer.at("config");
    else
      model->add(make_any(layer));
  }
  model->set_name(config.at("name").get<std::string>());
  if (!config.value("trainable", true)) model->set_trainable(false);
  if (input.at("batch_shape").is_null())
    throw UnimplementedError("load_model: '" + model->name() + "' was saved before it was built");
  const bool takes_ids = model->size() > 0 && dynamic_cast<nn::Embedding*>(&(*model)[0]);
  const DType dtype = takes_ids ? DType::Int32 : input_dtype(input);
  model->set_batch_size(batch_size(input.at("batch_shape")));
  (*model)(cast(zeros(example_shape(input.at("batch_shape"))), dtype));
  model->reset_states();  // what it has seen was an example
  return model;
}

/// A Functional in the making.
class GraphMaker {
 public:
  explicit GraphMaker(const Json& config) : model_(std::make_unique<nn::Functional>()) {
    model_->set_name(config.at("name").get<std::string>());
    for (const Json& layer : config.at("layers"))
      if (layer.at("class_name") == "Embedding") looked_up_ += layer.at("inbound_nodes").dump();
    for (const Json& layer : config.at("layers")) described_[layer.at("name")] = &layer;
    for (const auto& [name, history] : flat_ends(config.at("input_layers")))
      add_input(*described_.at(history.at(0)));
    of_masks_ = operations_of_masks(config);
    for (const Json& layer : config.at("layers"))
      if (layer.at("class_name") != "InputLayer" && !of_masks_.contains(layer.at("name")))
        add(layer);
    while (!calls_.empty())
      if (!apply_what_can_be())
        throw DataLossError("load_model: a graph of layers that wait for each other");
    add_outputs(config.at("output_layers"));
    if (!config.value("trainable", true)) model_->set_trainable(false);
  }

  std::unique_ptr<nn::Functional> model_;

 private:
  struct Call {
    nn::Module* layer;
    std::string name;
    const Json* node;
  };

  using Nodes = std::vector<nn::Functional::Node>;
  using NamedHistories = std::vector<std::pair<std::string, Json>>;

  void add_input(const Json& layer) {
    const Json& config = layer.at("config");
    const std::string name = layer.at("name");
    const Shape example = example_shape(config.at("batch_shape"));
    const Shape shape(example.dims().subspan(1));
    // Keras converts the input of an Embedding, whatever the dtype of the model's input is.
    const bool takes_ids = looked_up_.find(Json({name, 0, 0}).dump()) != std::string::npos;
    const DType dtype = takes_ids ? DType::Int32 : input_dtype(config);
    const auto size = batch_size(config.at("batch_shape")), other = model_->batch_size();
    if (size && other && size != other)
      throw UnimplementedError(str_cat("load_model: inputs of batches of ", *other, " and ", *size,
                                       " examples; build the model in the program, and ",
                                       "load_weights fills it"));
    nodes_[name] = {{model_->input(name, shape, dtype, size)}};
  }

  void add(const Json& layer) {
    const std::string name = layer.at("name");
    const std::string kind = layer.at("class_name");
    nn::Module& made =
        model_->add(make_any(kind.ends_with("Attention") ? with_causal_mask(layer) : layer));
    nodes_[name] = {};
    for (const Json& node : layer.at("inbound_nodes")) calls_.push_back({&made, name, &node});
  }

  /// The node of [layer, call, output]; nullptr: it is not made yet.
  const nn::Functional::Node* find(const Json& history) const {
    const auto& made = nodes_.at(history.at(0).get<std::string>());
    const size_t call = history.at(1);
    return call < made.size() ? &made[call].at(history.at(2)) : nullptr;
  }

  bool is_functional(const std::string& layer) const {
    const std::string kind = described_.at(layer)->at("class_name");
    return kind == "Functional" || kind == "Model";
  }

  /// The histories in the arguments of a call.
  void list_tensors(const Json& arguments, const std::string& layer,
                    std::vector<Json>& histories) const {
    for (const Json& argument : arguments) {
      if (argument.is_array())
        list_tensors(argument, layer, histories);
      else if (argument.is_object() && !argument.contains("class_name") && is_functional(layer))
        list_tensors(in_order_of_inputs(argument, layer), layer, histories);
      else if (argument.is_object() && argument.value("class_name", "") == "__keras_tensor__")
        histories.push_back(argument.at("config").at("keras_history"));
      else
        throw UnimplementedError("load_model: layer '" + layer + "' is called with " +
                                 argument.dump() + ", which is not known here");
    }
  }

  /// A dict of tensors in the order in which the inner model has its inputs.
  Json in_order_of_inputs(const Json& argument, const std::string& layer) const {
    Json tensors = Json::array();
    for (const auto& [name, history] :
         flat_ends(described_.at(layer)->at("config").at("input_layers")))
      tensors.push_back(argument.at(name));
    return tensors;
  }

  /// The names of tensors that are arguments of this call, but not its mask.
  static void list_sources(const Json& arguments, std::set<std::string>& names) {
    if (arguments.is_object() && arguments.contains("keras_history")) {
      names.insert(arguments.at("keras_history").at(0));
      return;
    }
    if (arguments.is_structured())
      for (const auto& [key, argument] : arguments.items())
        if (!arguments.is_object() || (key != "mask" && !key.ends_with("_mask")))
          list_sources(argument, names);
  }

  /// Operations that lead to the outputs as masks alone. Keras 3.15 writes them down; here masks
  /// go from layer to layer by themselves.
  /// Throws  UnimplementedError where a mask is another one.
  std::set<std::string> operations_of_masks(const Json& config) const {
    std::set<std::string> needed;
    std::vector<std::string> open;
    for (const auto& [name, history] : flat_ends(config.at("output_layers")))
      open.push_back(history.at(0));
    while (!open.empty()) {
      const std::string name = open.back();
      open.pop_back();
      if (!needed.insert(name).second) continue;
      std::set<std::string> sources;
      for (const Json& node : described_.at(name)->at("inbound_nodes")) list_sources(node, sources);
      open.insert(open.end(), sources.begin(), sources.end());
    }
    std::set<std::string> of_masks;
    for (const auto& [name, layer] : described_)
      if (!needed.contains(name) && is_of_mask(*layer)) of_masks.insert(name);
    return of_masks;
  }

  /// Whether the operation is part of a mask that a layer makes; .h5 files do not mark operations.
  bool is_of_mask(const Json& operation) const {
    static const std::set<std::string> known = {
        "Any",       "LogicalOr", "Concatenate",    "ExpandDims",
        "ZerosLike", "OnesLike",  "ConvertToTensor"};
    const std::string kind = operation.at("class_name");
    if (known.contains(kind)) return true;
    if (kind == "NotEqual" && is_mask_of_layer(operation.at("inbound_nodes").at(0))) return true;
    if (kind != "NotEqual" && !is_operation(operation)) return false;
    throw UnimplementedError("load_model: the mask that '" +
                             operation.at("name").get<std::string>() + "' (" + kind +
                             ") makes is none that a layer makes; masks of the program's own are "
                             "not known here");
  }

  /// Whether an Embedding or a Masking layer takes the same tensor, and has a mask for this value.
  bool is_mask_of_layer(const Json& comparison) const {
    const Json& args = comparison.at("args");
    const Json history = args.at(0).at("config").at("keras_history");
    for (const auto& [name, layer] : described_) {
      const bool embeds = layer->at("class_name") == "Embedding";
      if (!embeds && layer->at("class_name") != "Masking") continue;
      const Json& config = layer->at("config");
      const double value = embeds ? 0 : config.at("mask_value").get<double>();
      const bool masks = !embeds || config.value("mask_zero", false);
      for (const Json& call : layer->at("inbound_nodes"))
        if (masks && call.at("args").at(0).at("config").at("keras_history") == history &&
            args.at(1).is_number() && args.at(1).get<double>() == value)
          return true;
    }
    return false;
  }

  /// An attention layer as an object: here it has the causal mask as an option.
  static Json with_causal_mask(const Json& layer) {
    std::set<bool> causal;
    for (const Json& call : layer.at("inbound_nodes"))
      causal.insert(call.at("kwargs").value(kCausalMask, Json(false)) == Json(true));
    if (causal.size() > 1)
      throw UnimplementedError("load_model: layer '" + layer.at("name").get<std::string>() +
                               "' has a causal mask in one of its calls and none in another, "
                               "which is not known here");
    Json described = layer;
    described["config"][kCausalMask] = causal.contains(true);
    return described;
  }

  /// Whether an argument is a mask that comes along by itself.
  bool is_own_mask(const std::string& key, const Json& value) const {
    if (key != "mask" && !key.ends_with("_mask")) return false;
    std::set<std::string> sources;
    list_sources(value, sources);
    return std::ranges::all_of(sources, [&](const auto& name) { return of_masks_.contains(name); });
  }

  /// Returns the histories of a call's arguments; for attention query, value and key.
  std::vector<Json> tensors_of(const Call& call) const {
    const bool attends = dynamic_cast<nn::MultiHeadAttention*>(call.layer);
    const bool averages = dynamic_cast<nn::AttentionLayer*>(call.layer);
    const bool resizes = dynamic_cast<nn::Resizing*>(call.layer);  // the same in training
    const std::set<std::string> known =
        resizes    ? std::set<std::string>{"training"}
        : averages ? std::set<std::string>{kCausalMask}
        : attends  ? std::set<std::string>{"query", "value", "key", kCausalMask}
                   : std::set<std::string>{};
    const Json& options = call.node->at("kwargs");
    for (const auto& [key, value] : options.items())
      if (!value.is_null() && value != Json(false) && !known.contains(key) &&
          !is_own_mask(key, value))
        throw UnimplementedError("load_model: layer '" + call.name + "' is called with '" + key +
                                 "', which is not known here");
    std::vector<Json> histories;
    list_tensors(call.node->at("args"), call.name, histories);
    for (const char* name : {"query", "value", "key"})
      if (attends && options.contains(name) && !options.at(name).is_null())
        list_tensors(Json::array({options.at(name)}), call.name, histories);
    return histories;
  }

  bool apply(const Call& call) {
    std::vector<nn::Functional::Node> inputs;
    for (const Json& history : tensors_of(call)) {
      const auto* node = find(history);
      if (!node) return false;
      inputs.push_back(*node);
    }
    Nodes results = model_->apply_all(*call.layer, inputs);
    if (is_functional(call.name)) results = as_numbered(std::move(results), call.name);
    nodes_[call.name].push_back(std::move(results));
    return true;
  }

  /// Keras numbers the results of a dict by the order of its keys.
  Nodes as_numbered(Nodes results, const std::string& layer) const {
    const Json& outputs = described_.at(layer)->at("config").at("output_layers");
    if (!outputs.is_object()) return results;
    std::map<std::string, nn::Functional::Node> sorted;
    size_t i = 0;
    for (const auto& [name, history] : outputs.items()) sorted[name] = results.at(i++);
    Nodes all;
    for (const auto& [name, node] : sorted) all.push_back(node);
    return all;
  }

  /// Calls of one layer stay in order.
  bool apply_what_can_be() {
    std::vector<Call> later;
    std::set<nn::Module*> waiting;
    for (const Call& call : calls_)
      if (waiting.contains(call.layer) || !apply(call)) {
        later.push_back(call);
        waiting.insert(call.layer);
      }
    const bool some = later.size() < calls_.size();
    calls_ = std::move(later);
    return some;
  }

  /// ["x", 0, 0], a list of such, or several by name; lists have the names of their layers.
  static NamedHistories flat_ends(const Json& json) {
    NamedHistories all;
    if (json.is_object())
      for (const auto& [name, history] : json.items()) all.emplace_back(name, history);
    else if (json.at(0).is_string())
      all.emplace_back(json.at(0), json);
    else
      for (const Json& history : json) all.emplace_back(history.at(0), history);
    return all;
  }

  void add_outputs(const Json& json) {
    std::set<std::string> taken(model_->input_names().begin(), model_->input_names().end());
    for (auto& [name, history] : flat_ends(json)) {
      Json place = history;
      // Keras counts the calls of an inner model from 1 here, and from 0 between layers.
      if (is_functional(history.at(0))) place[1] = history.at(1).get<int64_t>() - 1;
      const auto* node = find(place);
      if (!node) throw DataLossError("load_model: an output that is not made");
      std::string unique = name;
      for (int i = 1; !taken.insert(unique).second; ++i) unique = str_cat(name, "_", i);
      model_->output(unique, *node);
    }
  }

  std::map<std::string, const Json*> described_;     // layers by name
  std::set<std::string> of_masks_;                   // operations that are left out
  std::map<std::string, std::vector<Nodes>> nodes_;  // results of each layer's calls
  std::vector<Call> calls_;
  std::string looked_up_;  // the calls of Embedding layers, as text
};

DISTRIBUTE_INLINE MadeLayer make_any(const Json& object) {
  const std::string name = object.at("class_name");
  if (name == "Sequential") return make_sequential(object);
  if (name == "Functional" || name == "Model")
    return std::move(GraphMaker(object.at("config")).model_);
  return make_layer(object);
}

DISTRIBUTE_INLINE std::unique_ptr<nn::Module> make_model(const std::string& config,
                                                         const std::string& name) {
  try {
    const Json object = Json::parse(config);
    const std::string kind = object.at("class_name");
    if (kind != "Sequential" && kind != "Functional" && kind != "Model")
      throw UnimplementedError("load_model: " + name + " holds a " + kind +
                               ", neither a Sequential nor a Functional; build it in the program, "
                               "and load_weights fills it");
    return make_any(object);
  } catch (const nlohmann::json::exception& error) {
    throw DataLossError(name + ": its configuration is damaged: " + error.what());
  } catch (const std::out_of_range&) {
    throw DataLossError(name + ": its configuration names a layer that it does not have");
  }
}

}  // namespace distribute::saving_internal
