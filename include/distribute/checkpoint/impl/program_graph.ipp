#pragma once
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/detail/program_graph.hpp>
#include <distribute/strategy/sharded_variable.hpp>

#include <algorithm>
#include <map>

namespace distribute::checkpoint_internal {

DISTRIBUTE_INLINE ProgramGraph::ProgramGraph(const train::CheckpointParts& parts, int keras_version)
    : keras_version_(keras_version) {
  nodes_.emplace_back();
  for (const auto& [name, part] : parts) {
    if (const auto* object = std::get_if<const Trackable*>(&part))
      add_object(0, name, *object);
    else if (const auto* variable = std::get_if<Variable>(&part))
      add_variable(0, name, *variable);
    else
      add(0, name, {.state = &std::get<train::TensorState>(part)});
  }
  for (size_t node = 1; node < nodes_.size(); ++node) expand(node);
  add_optimizer_of_model();
  const size_t count = nodes_.size();
  for (size_t node = 1; node < count; ++node) add_slots(node);
  for (size_t node = 1; node < count; ++node) add_keras_lists(node);
}

/// Adds a new node, with the edge that leads to it.
DISTRIBUTE_INLINE size_t ProgramGraph::add(size_t parent, const std::string& name,
                                           ProgramNode node) {
  const std::string& path = nodes_[parent].path;
  node.path = path + (path.empty() ? "" : "/") + train::escape_local_name(name);
  nodes_[parent].children.push_back({name, nodes_.size()});
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

DISTRIBUTE_INLINE void ProgramGraph::add_object(size_t parent, const std::string& name,
                                                const Trackable* object) {
  const auto known = objects_.find(object);
  if (known == objects_.end())
    objects_[object] = add(parent, name, {.object = object});
  else
    nodes_[parent].children.push_back({name, known->second});
}

DISTRIBUTE_INLINE void ProgramGraph::add_variable(size_t parent, const std::string& name,
                                                  const Variable& variable) {
  const uint64_t id = variable.impl().id();
  const auto known = variables_.find(id);
  if (known != variables_.end()) {
    nodes_[parent].children.push_back({name, known->second});
    return;
  }
  const size_t node = add(parent, name, {.variable = variable});
  variables_[id] = node;
  for (const Variable& part : variable.impl().parts()) variables_[part.impl().id()] = node;
}

DISTRIBUTE_INLINE void ProgramGraph::expand(size_t node) {
  const Trackable* object = nodes_[node].object;
  if (!object) return;
  for (const auto& child : object->children()) add_object(node, child.name, child.object);
  for (const auto& own : object->own_variables()) add_variable(node, own.name, own.variable);
  check_names(node);
  add_keras_names(node);
}

DISTRIBUTE_INLINE void ProgramGraph::check_names(size_t node) const {
  std::vector<std::string> names;
  for (const auto& edge : nodes_[node].children) names.push_back(edge.name);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end())
    throw InvalidArgumentError(str_cat("checkpoint: object '", nodes_[node].path,
                                       "' calls two of its parts '", *twice, "'"));
}

DISTRIBUTE_INLINE void ProgramGraph::add_slots(size_t node) {
  const Trackable* object = nodes_[node].object;
  if (!object) return;
  std::map<std::pair<size_t, std::string>, std::vector<Variable>> cut;
  const auto add_slot = [&](size_t original, const std::string& name, const Variable& variable) {
    nodes_[node].slots.push_back({original, name, nodes_.size()});
    ProgramNode& added = nodes_.emplace_back();
    added.variable = variable;
    added.path = train::slot_path(nodes_[original].path, nodes_[node].path, name);
  };
  for (const auto& slot : object->slot_variables()) {
    const auto original = variables_.find(slot.original.impl().id());
    if (original == variables_.end()) continue;  // the variable itself is not saved
    if (!slot.original.impl().save_slice_info())
      add_slot(original->second, slot.slot_name, slot.variable);
    else  // the slots of the shards together are that of the whole
      cut[{original->second, slot.slot_name}].push_back(slot.variable);
  }
  for (auto& [original, shards] : cut)
    if (shards.size() == nodes_[original.first].variable.impl().parts().size())
      add_slot(original.first, original.second,
               strategy_internal::view_of_shards(std::move(shards)));
}

DISTRIBUTE_INLINE train::TrackableObjectGraph ProgramGraph::to_proto(int workers) const {
  train::TrackableObjectGraph graph;
  for (const ProgramNode& node : nodes_) {
    train::TrackableObject& object = graph.nodes.emplace_back();
    for (const auto* edges : {&node.children, &node.lists})
      for (const auto& edge : *edges) object.children.push_back({int32_t(edge.node), edge.name});
    // Keras 2 takes a file with these for one of TensorFlow 2.10 or before, and refuses it.
    const auto slots = keras_version_ == 2 ? std::vector<ProgramNode::Slot>() : node.slots;
    for (const auto& slot : slots)
      object.slot_variables.push_back({int32_t(slot.original), slot.name, int32_t(slot.node)});
    const std::string full_name = node.variable ? node.variable.name() : node.path;
    if (node.has_value())
      object.attributes.push_back({"VARIABLE_VALUE", full_name, node.key(), false});
    const int states = node.state && node.state->per_worker ? workers : 1;
    for (int rank = 1; rank < states; ++rank)
      object.attributes.push_back(
          {ProgramNode::worker_attribute(rank), full_name, node.key_of_worker(rank), false});
    object.has_checkpoint_values = true;
  }
  return graph;
}

}  // namespace distribute::checkpoint_internal
