#pragma once
#include <distribute/nn/convolution.hpp>
#include <distribute/nn/embedding.hpp>
#include <distribute/nn/merging.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/module_saver.hpp>
#include <distribute/nn/normalization.hpp>
#include <distribute/nn/recurrent.hpp>
#include <distribute/nn/resnet.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace distribute::nn {

namespace nn_internal {

/// Whether Keras puts another layer before or behind this one: for padding, for an activation.
DISTRIBUTE_INLINE bool is_padded(const Module& layer) {
  const auto is = [](const auto* one) {
    return one && one->options().padding == Padding::Explicit;
  };
  return is(dynamic_cast<const Conv2D*>(&layer)) ||
         is(dynamic_cast<const DepthwiseConv2D*>(&layer));
}
DISTRIBUTE_INLINE bool is_activated(const Module& layer) {
  const auto* norm = dynamic_cast<const BatchNormalization*>(&layer);
  return norm && norm->options().activation;
}

DISTRIBUTE_INLINE bool is_one_of(const Module& layer, const std::set<std::string>& kinds) {
  return kinds.contains(layer.class_name());
}

/// Layers whose call() has an argument `mask`, so that their nodes depend on it.
DISTRIBUTE_INLINE bool takes_mask(const Module& layer) {
  return dynamic_cast<const RecurrentBase*>(&layer) ||
         is_one_of(layer, {"batch_normalization", "softmax", "bidirectional", "time_distributed",
                           "global_average_pooling1d", "attention", "additive_attention",
                           "sequential", "functional"});
}

/// Layers that have no mask whatever they get.
DISTRIBUTE_INLINE bool ends_mask(const Module& layer) {
  if (const auto* recurrent = dynamic_cast<const RecurrentBase*>(&layer))
    return !recurrent->return_sequences();
  if (const auto* both = dynamic_cast<const Bidirectional*>(&layer))
    return !both->forward_layer().return_sequences();
  return is_one_of(layer, {"einsum_dense",
                           "conv2d",
                           "conv1d",
                           "depthwise_conv2d",
                           "separable_conv2d",
                           "conv2d_transpose",
                           "embedding",
                           "rms_normalization",
                           "spectral_normalization",
                           "flatten",
                           "reshape",
                           "permute",
                           "repeat_vector",
                           "zero_padding2d",
                           "up_sampling2d",
                           "resizing",
                           "lambda",
                           "max_pooling2d",
                           "max_pooling1d",
                           "average_pooling2d",
                           "average_pooling1d",
                           "global_average_pooling1d",
                           "global_max_pooling1d",
                           "global_average_pooling2d",
                           "global_max_pooling2d",
                           "dot",
                           "sequential",
                           "functional",
                           "random_flip",
                           "random_rotation",
                           "random_zoom",
                           "random_translation",
                           "random_contrast"});
}

/// The calls of a model's layers, with those that only Keras has.
class KerasGraph {
 public:
  size_t input() { return add(nullptr, {}); }

  size_t call(const Module& layer, std::vector<size_t> inputs) {
    if (is_padded(layer)) inputs = {add(nullptr, inputs)};
    std::vector<size_t> taken = inputs;
    if (const auto* masking = dynamic_cast<const Masking*>(&layer))
      return call_masking(*masking, inputs[0]);
    if (takes_mask(layer))
      for (const size_t input : inputs)
        if (masks_[input]) taken.push_back(*masks_[input]);
    const size_t result = add(&layer, taken);
    masks_[result] = mask_of(layer, inputs);
    if (!is_activated(layer)) return result;
    const size_t activated = add(nullptr, {result});
    masks_[activated] = masks_[result];
    return activated;
  }

  /// Operations, those with the largest distance from the outputs first.
  std::vector<const Module*> in_order(const std::vector<size_t>& outputs) {
    for (const size_t output : outputs) visit(output);
    std::map<size_t, int64_t> of_call, of_operation;
    for (auto call = finished_.rbegin(); call != finished_.rend(); ++call) {
      int64_t& distance = of_operation[calls_[*call].operation];
      distance = std::max(distance, of_call[*call]);
      for (const size_t input : calls_[*call].inputs)
        of_call[input] = std::max(of_call[input], distance + 1);
    }
    for (size_t i = 0; i < calls_.size(); ++i)  // inputs that nothing uses
      if (calls_[i].is_input && !seen_.contains(i))
        first_seen_.insert(first_seen_.begin(), calls_[i].operation);
    std::stable_sort(first_seen_.begin(), first_seen_.end(),
                     [&](size_t a, size_t b) { return of_operation[a] > of_operation[b]; });
    std::vector<const Module*> layers;
    for (const size_t operation : first_seen_) layers.push_back(operations_[operation]);
    return layers;
  }

 private:
  struct Call {
    size_t operation;
    std::vector<size_t> inputs;
    bool is_input;
  };

  size_t add(const Module* layer, std::vector<size_t> inputs) {
    size_t operation = operations_.size();
    if (layer)  // one that is called again is the same operation
      operation =
          size_t(std::find(operations_.begin(), operations_.end(), layer) - operations_.begin());
    if (operation == operations_.size()) operations_.push_back(layer);
    const bool is_input = inputs.empty();
    calls_.push_back({operation, std::move(inputs), is_input});
    masks_.emplace_back();
    return calls_.size() - 1;
  }

  size_t call_masking(const Masking& layer, size_t input) {
    const size_t differs = add(nullptr, {input}), result = add(&layer, {input});
    masks_[result] = add(nullptr, {differs});
    return result;
  }

  std::optional<size_t> mask_of(const Module& layer, const std::vector<size_t>& inputs) {
    if (const auto* embedding = dynamic_cast<const Embedding*>(&layer);
        embedding && embedding->options().mask_zero)
      return add(nullptr, {inputs[0]});
    if (ends_mask(layer)) return std::nullopt;
    if (dynamic_cast<const Concatenate*>(&layer)) return joined_mask(inputs);
    if (!dynamic_cast<const Merge*>(&layer)) return masks_[inputs[0]];
    std::optional<size_t> mask = masks_[inputs[0]];
    for (size_t i = 1; i < inputs.size(); ++i)
      mask = mask && masks_[inputs[i]] ? std::optional(add(nullptr, {*mask, *masks_[inputs[i]]}))
                                       : std::nullopt;
    return mask;
  }

  std::optional<size_t> joined_mask(const std::vector<size_t>& inputs) {
    if (std::ranges::none_of(inputs, [&](size_t input) { return masks_[input].has_value(); }))
      return std::nullopt;
    std::vector<size_t> masks;
    for (const size_t input : inputs) {
      if (!masks_[input]) {
        masks.push_back(add(nullptr, {input}));
        continue;
      }
      const size_t wide = add(nullptr, {*masks_[input]}), zeros = add(nullptr, {input});
      masks.push_back(add(nullptr, {wide, zeros}));
    }
    return add(nullptr, {add(nullptr, masks)});
  }

  /// Depth first, each call behind those that it needs.
  void visit(size_t call) {
    if (!seen_.insert(call).second) return;
    const size_t operation = calls_[call].operation;
    if (std::find(first_seen_.begin(), first_seen_.end(), operation) == first_seen_.end())
      first_seen_.push_back(operation);
    for (const size_t input : calls_[call].inputs) visit(input);
    finished_.push_back(call);
  }

  std::vector<const Module*> operations_;  // null: Keras's own
  std::vector<Call> calls_;                // a tensor has the number of the call that makes it
  std::vector<std::optional<size_t>> masks_;
  std::set<size_t> seen_;
  std::vector<size_t> finished_, first_seen_;
};

DISTRIBUTE_INLINE std::vector<const Module*> operations_of(const Functional& model) {
  KerasGraph graph;
  std::map<size_t, size_t> tensors;  // by node
  for (const size_t node : model.input_nodes()) tensors[node] = graph.input();
  for (const Functional::Step& step : model.steps()) {
    std::vector<size_t> inputs;
    for (const size_t node : step.inputs) inputs.push_back(tensors.at(node));
    const size_t result = graph.call(*step.layer, inputs);
    for (size_t i = 0; i < step.num_results; ++i) tensors[step.result + i] = result;
  }
  std::map<std::string, size_t> outputs;  // Keras sorts several outputs by their names
  for (size_t i = 0; i < model.output_nodes().size(); ++i)
    outputs[model.output_names()[i]] = tensors.at(model.output_nodes()[i]);
  std::vector<size_t> ends;
  for (const auto& [name, tensor] : outputs) ends.push_back(tensor);
  return graph.in_order(ends);
}

DISTRIBUTE_INLINE std::vector<const Module*> operations_of(const Sequential& model) {
  KerasGraph graph;
  size_t tensor = graph.input();
  for (size_t i = 0; i < model.size(); ++i) tensor = graph.call(model[i], {tensor});
  return graph.in_order({tensor});
}

/// Lists the layers in Keras's order, with the operations that only Keras has between them.
DISTRIBUTE_INLINE std::vector<const Module*> operations_of(const applications::ResNet& model) {
  std::vector<const Module*> all(2);  // the input, and zeros around it
  for (const auto& [name, object] : model.children()) {
    all.push_back(&dynamic_cast<const Module&>(*object));
    size_t between = is_activated(*all.back()) ? 1 : 0;
    if (name == "conv1_bn") between = 3;       // its activation, and a pool with zeros around
    if (name.ends_with("_3_bn")) between = 2;  // the sum and its activation
    all.insert(all.end(), between, nullptr);
  }
  return all;
}

DISTRIBUTE_INLINE void collect_trainable(const Module& module, std::vector<Variable>& all) {
  for (const auto& [name, variable] : module.own_variables())
    if (module.trains(variable) && std::find(all.begin(), all.end(), variable) == all.end())
      all.push_back(variable);
  for (const Module* layer : keras_layers(module)) collect_trainable(*layer, all);
}

}  // namespace nn_internal

DISTRIBUTE_INLINE std::vector<const Module*> keras_operations(const Module& model) {
  if (const auto* graph = dynamic_cast<const Functional*>(&model))
    return nn_internal::operations_of(*graph);
  if (const auto* sequence = dynamic_cast<const Sequential*>(&model))
    return nn_internal::operations_of(*sequence);
  if (const auto* network = dynamic_cast<const applications::ResNet*>(&model))
    return nn_internal::operations_of(*network);
  return {};
}

DISTRIBUTE_INLINE std::vector<const Module*> keras_layers(const Module& module) {
  std::vector<const Module*> layers = keras_operations(module);
  std::erase(layers, nullptr);
  if (!layers.empty()) return layers;
  for (const auto& [name, object] : module.children())
    layers.push_back(&dynamic_cast<const Module&>(*object));
  return layers;
}

DISTRIBUTE_INLINE std::string keras_attribute(const Module& module, const std::string& name) {
  using nn_internal::is_one_of;
  if (name == "kernel" && is_one_of(module, {"dense", "einsum_dense", "conv2d", "conv1d"}))
    return "_kernel";
  if (name == "embeddings" && is_one_of(module, {"embedding"})) return "_embeddings";
  if (is_one_of(module, {"multi_head_attention", "grouped_query_attention"}))
    return name == "attention_output" ? "_output_dense" : "_" + name + "_dense";
  if (is_one_of(module, {"bidirectional"}))
    return name.starts_with("forward_") ? "forward_layer" : "backward_layer";
  if (is_one_of(module, {"time_distributed", "spectral_normalization"}) && name == "0")
    return "layer";
  const bool is_cell = dynamic_cast<const RecurrentBase*>(&module) && name != "dropout" &&
                       name != "recurrent_dropout";
  return is_cell ? "cell" : name;
}

DISTRIBUTE_INLINE std::vector<Variable> keras_trainable_variables(const Module& module) {
  std::vector<Variable> all;
  nn_internal::collect_trainable(module, all);
  return all;
}

}  // namespace distribute::nn
