#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/attention.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/saving/detail/layer_maker.hpp>
#include <distribute/saving/detail/model_maker.hpp>
#include <distribute/saving/detail/sequence_makers.hpp>

#include <map>
#include <set>

#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

using Json = nlohmann::ordered_json;

DISTRIBUTE_INLINE MadeLayer make_any(const Json& object);

/// [null, 28, 28] with a batch of 1.
DISTRIBUTE_INLINE Shape example_shape(const Json& sizes) {
  Shape shape;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i > 0 && sizes[i].is_null())
      throw UnimplementedError("load_model: an input of no fixed shape, " + sizes.dump() +
                               "; build the model in the program, and load_weights fills it");
    shape.push_back(i == 0 ? 1 : sizes[i].get<int64_t>());
  }
  return shape;
}

DISTRIBUTE_INLINE DType input_dtype(const Json& config) {
  const std::string name = config.value("dtype", "float32");
  for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16, DType::Int32,
                            DType::Int64, DType::UInt8, DType::Bool})
    if (name == name_of(dtype)) return dtype;
  throw UnimplementedError("load_model: inputs of " + name);
}

DISTRIBUTE_INLINE MadeLayer make_sequential(const Json& object) {
  const Json& config = object.at("config");
  auto model = std::make_unique<nn::Sequential>();
  Json input = {{"batch_shape", config.value("build_input_shape", Json())}};
  for (const Json& layer : config.at("layers")) {
    if (layer.at("class_name") == "InputLayer")
      input = layer.at("config");
    else
      model->append(make_any(layer));
  }
  model->set_name(config.at("name").get<std::string>());
  if (!config.value("trainable", true)) model->set_trainable(false);
  if (input.at("batch_shape").is_null())
    throw UnimplementedError("load_model: '" + model->name() + "' was saved before it was built");
  const bool takes_ids = model->size() > 0 && dynamic_cast<nn::Embedding*>(&(*model)[0]);
  const DType dtype = takes_ids ? DType::Int32 : input_dtype(input);
  (*model)(cast(zeros(example_shape(input.at("batch_shape"))), dtype));
  return model;
}

/// A Functional in the making.
class GraphMaker {
 public:
  explicit GraphMaker(const Json& config) : model_(std::make_unique<nn::Functional>()) {
    model_->set_name(config.at("name").get<std::string>());
    for (const Json& layer : config.at("layers"))
      if (layer.at("class_name") == "Embedding") looked_up_ += layer.at("inbound_nodes").dump();
    for (const Json& layer : config.at("layers")) add(layer);
    while (!calls_.empty())
      if (!apply_what_can_be())
        throw DataLossError("load_model: a graph of layers that wait for each other");
    for (const auto& [name, node] : ends(config.at("output_layers"))) model_->output(name, node);
    if (!config.value("trainable", true)) model_->set_trainable(false);
  }

  std::unique_ptr<nn::Functional> model_;

 private:
  struct Call {
    nn::Module* layer;
    std::string name;
    const Json* node;
  };

  void add(const Json& layer) {
    const Json& config = layer.at("config");
    const std::string name = layer.at("name");
    if (layer.at("class_name") == "InputLayer") {
      const Shape example = example_shape(config.at("batch_shape"));
      const Shape shape(example.dims().subspan(1));
      // Keras converts what an Embedding takes, whatever the dtype of the input is.
      const bool takes_ids = looked_up_.find(Json({name, 0, 0}).dump()) != std::string::npos;
      const DType dtype = takes_ids ? DType::Int32 : input_dtype(config);
      nodes_[name] = {model_->input(name, shape, dtype)};
      return;
    }
    const bool attends = layer.at("class_name") == "MultiHeadAttention";
    nn::Module& made = model_->add(make_any(attends ? with_causal_mask(layer) : layer));
    nodes_[name] = {};
    for (const Json& node : layer.at("inbound_nodes")) calls_.push_back({&made, name, &node});
  }

  /// The node of [layer, call, output]; nullptr: it is not made yet.
  const nn::Functional::Node* find(const Json& history) const {
    if (history.at(2) != 0)
      throw UnimplementedError("load_model: layer '" + history.at(0).get<std::string>() +
                               "' has several outputs, which is not known here");
    const auto& made = nodes_.at(history.at(0).get<std::string>());
    const size_t call = history.at(1);
    return call < made.size() ? &made[call] : nullptr;
  }

  /// The histories in the arguments of a call.
  static void list_tensors(const Json& arguments, const std::string& layer,
                           std::vector<Json>& histories) {
    for (const Json& argument : arguments) {
      if (argument.is_array())
        list_tensors(argument, layer, histories);
      else if (argument.is_object() && argument.value("class_name", "") == "__keras_tensor__")
        histories.push_back(argument.at("config").at("keras_history"));
      else
        throw UnimplementedError("load_model: layer '" + layer + "' is called with " +
                                 argument.dump() + ", which is not known here");
    }
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

  /// The histories of what a call takes, of attention query, value and key.
  static std::vector<Json> tensors_of(const Call& call) {
    const bool attends = dynamic_cast<nn::MultiHeadAttention*>(call.layer);
    const std::set<std::string> known =
        attends ? std::set<std::string>{"query", "value", "key", kCausalMask}
                : std::set<std::string>{};
    const Json& options = call.node->at("kwargs");
    for (const auto& [key, value] : options.items())
      if (!value.is_null() && value != Json(false) && !known.contains(key))
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
    nodes_[call.name].push_back(model_->apply(*call.layer, inputs));
    return true;
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
  std::vector<std::pair<std::string, nn::Functional::Node>> ends(const Json& json) const {
    std::vector<std::pair<std::string, nn::Functional::Node>> all;
    const auto add_end = [&](const std::string& name, const Json& history) {
      const auto* node = find(history);
      if (!node) throw DataLossError("load_model: an output that is not made");
      all.emplace_back(name, *node);
    };
    if (json.is_object())
      for (const auto& [name, history] : json.items()) add_end(name, history);
    else if (json.at(0).is_string())
      add_end(json.at(0), json);
    else
      for (const Json& history : json) add_end(history.at(0), history);
    return all;
  }

  std::map<std::string, std::vector<nn::Functional::Node>> nodes_;  // of each layer's calls
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
