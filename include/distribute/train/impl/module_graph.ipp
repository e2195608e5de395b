#pragma once
#include <distribute/train/detail/module_graph.hpp>

#include <string>

namespace distribute::train_internal {

DISTRIBUTE_INLINE std::vector<int64_t> sizes_of(const Shape& shape) {
  return {shape.begin(), shape.end()};
}

/// Adds the layers of `module`; `last` is the node whose output comes in, and then goes out.
DISTRIBUTE_INLINE void add_module(const nn::Module& module, const std::string& path,
                                  std::string& last, std::vector<summary::GraphNode>& nodes) {
  summary::GraphNode node{
      .name = path + "/" + module.class_name(), .op = module.class_name(), .inputs = {last}};
  for (const auto& [name, variable] : module.own_variables()) {
    nodes.push_back({.name = path + "/" + name,
                     .op = "VariableV2",
                     .output_shape = sizes_of(variable.shape()),
                     .has_output_shape = true});
    node.inputs.push_back(nodes.back().name);
  }
  const auto parts = module.children();
  for (const auto& [name, part] : parts)
    if (const auto* layer = dynamic_cast<const nn::Module*>(part))
      add_module(*layer, layer->adds_name() ? path + "/" + layer->name() : path, last, nodes);
  if (!parts.empty() && node.inputs.size() == 1) return;  // nothing of its own
  if (const auto shape = module.output_shape()) {
    node.output_shape = sizes_of(*shape);
    if (!node.output_shape.empty()) node.output_shape[0] = -1;  // of the batch
    node.has_output_shape = true;
  }
  node.inputs[0] = last;
  last = node.name;
  nodes.push_back(std::move(node));
}

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE std::vector<summary::GraphNode> module_graph(const nn::Module& module) {
  std::vector<summary::GraphNode> nodes{{.name = "input", .op = "Placeholder"}};
  std::string last = "input";
  train_internal::add_module(module, module.name(), last, nodes);
  return nodes;
}

}  // namespace distribute::train
