#pragma once
#include <distribute/checkpoint/detail/program_graph.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/module_saver.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/optim/optimizer.hpp>
#include <distribute/optim/serialization.hpp>

#include <algorithm>
#include <set>

namespace distribute::checkpoint_internal {

DISTRIBUTE_INLINE bool is_optimizer(const Trackable* object) {
  return dynamic_cast<const optim::Optimizer*>(object);
}

DISTRIBUTE_INLINE bool ProgramGraph::has_edge(size_t node, const std::string& name) const {
  return std::ranges::any_of(nodes_[node].children,
                             [&](const auto& edge) { return edge.name == name; });
}

/// Adds a second name of a part. The first keeps the key.
DISTRIBUTE_INLINE void ProgramGraph::add_alias(size_t parent, const std::string& name,
                                               size_t node) {
  if (!has_edge(parent, name)) nodes_[parent].children.push_back({name, node});
}

DISTRIBUTE_INLINE void ProgramGraph::add_keras_names(size_t node) {
  const auto edges = nodes_[node].children;
  if (const auto* module = dynamic_cast<const nn::Module*>(nodes_[node].object)) {
    for (const auto& edge : edges)
      add_alias(node, nn::keras_attribute(*module, edge.name), edge.node);
    add_keras_operations(node, *module);
  } else if (dynamic_cast<const optim::Optimizer*>(nodes_[node].object)) {
    for (const auto& edge : edges)
      if (edge.name == "iterations" || edge.name == "learning_rate")
        add_alias(node, "_" + edge.name, edge.node);
  }
}

/// model/_functional/_operations/1 of a Sequential, model/_operations/1 of a Functional; in Keras 2
/// model/layer_with_weights-0 of both.
DISTRIBUTE_INLINE void ProgramGraph::add_keras_operations(size_t node, const nn::Module& module) {
  const auto operations = nn::keras_operations(module);
  if (operations.empty()) return;
  size_t around = node;
  if (dynamic_cast<const nn::Sequential*>(&module)) around = add(node, "_functional", {});
  const size_t list = add(around, "_operations", {});
  size_t with_weights = 0;
  for (size_t i = 0; i < operations.size(); ++i) {
    const std::string index = std::to_string(i);
    if (!operations[i]) {
      add(list, index, {});
      continue;
    }
    add_object(list, index, operations[i]);
    if (!operations[i]->variables().empty())
      add_alias(node, str_cat("layer_with_weights-", with_weights++), objects_.at(operations[i]));
  }
}

/// Adds the optimizer of a compiled model as its part.
DISTRIBUTE_INLINE void ProgramGraph::add_optimizer_of_model() {
  std::vector<size_t> models, optimizers;
  for (const auto& edge : nodes_[0].children) {
    if (dynamic_cast<const nn::Module*>(nodes_[edge.node].object)) models.push_back(edge.node);
    if (is_optimizer(nodes_[edge.node].object)) optimizers.push_back(edge.node);
  }
  if (models.size() == 1 && optimizers.size() == 1)
    add_alias(models[0], "optimizer", optimizers[0]);
}

/// Returns the weights that an optimizer trains, in the order of Keras. For an optimizer without
/// slots they are not known, so they are those of the only model.
DISTRIBUTE_INLINE std::vector<size_t> ProgramGraph::trained_by(size_t optimizer) const {
  std::vector<size_t> known;
  const auto push = [&](size_t node) {
    if (std::ranges::find(known, node) == known.end()) known.push_back(node);
  };
  for (const auto& edge : nodes_[0].children)
    if (const auto* module = dynamic_cast<const nn::Module*>(nodes_[edge.node].object))
      for (const Variable& variable : nn::keras_trainable_variables(*module))
        if (const auto found = variables_.find(variable.impl().id()); found != variables_.end())
          push(found->second);
  const auto optimizers = std::ranges::count_if(nodes_, [](const auto& node) {
    return is_optimizer(node.object) &&
           !dynamic_cast<const optim::LossScaleOptimizer*>(node.object);
  });
  std::set<size_t> slotted;
  for (const auto& slot : nodes_[optimizer].slots) slotted.insert(slot.original);
  if (slotted.empty()) return optimizers == 1 ? known : std::vector<size_t>();
  std::erase_if(known, [&](size_t node) { return !slotted.contains(node); });
  for (const auto& slot : nodes_[optimizer].slots) push(slot.original);
  return known;
}

DISTRIBUTE_INLINE size_t ProgramGraph::add_keras_list(size_t parent, const std::string& name,
                                                      const std::vector<size_t>& elements) {
  const size_t list = nodes_.size();
  ProgramNode& added = nodes_.emplace_back();
  added.path = nodes_[parent].path + "/" + name;
  nodes_[parent].lists.push_back({name, list});
  for (size_t i = 0; i < elements.size(); ++i)
    added.children.push_back({std::to_string(i), elements[i]});
  return list;
}

/// Adds a value that is computed from others.
DISTRIBUTE_INLINE size_t ProgramGraph::add_derived(size_t parent, const std::string& name,
                                                   train::TensorState state) {
  states_.push_back(std::move(state));
  return add(parent, name, {.state = &states_.back(), .derived = true});
}

/// Keras 2 has the momenta of SGD also where there is no momentum, as zeros.
DISTRIBUTE_INLINE std::vector<size_t> ProgramGraph::add_unused_momenta(
    size_t optimizer, const std::vector<size_t>& trained) {
  const size_t list = add(optimizer, "momentums", {});
  std::vector<size_t> all;
  for (const size_t weight : trained) {
    const auto none = [variable = nodes_[weight].variable] {
      return Tensor(variable.shape(), std::vector<float>(size_t(variable.shape().num_elements())));
    };
    all.push_back(add_derived(list, std::to_string(all.size()), {none, [](const Tensor&) {}}));
  }
  return all;
}

DISTRIBUTE_INLINE void ProgramGraph::add_keras_lists(size_t node) {
  const auto* optimizer = dynamic_cast<const optim::Optimizer*>(nodes_[node].object);
  if (!optimizer) return;
  const auto* scaled = dynamic_cast<const optim::LossScaleOptimizer*>(optimizer);
  if (!scaled)
    add_keras_lists(node, *optimizer);
  else if (keras_version_ == 2)
    add_keras2_lists(node, *scaled);
  else
    add_keras3_lists(node, *scaled);
}

/// Lists of the optimizer's variables. Keras 2 counts the learning rate and Nadam's product as none
/// of them.
DISTRIBUTE_INLINE void ProgramGraph::add_keras_lists(size_t node,
                                                     const optim::Optimizer& optimizer) {
  const bool is_keras2 = keras_version_ == 2;
  if (!nodes_[node].lists.empty()) return;  // made with the one around it
  std::vector<size_t> all;
  for (const auto& own : optimizer.own_variables())
    if (!is_keras2 || own.name == "iterations")
      all.push_back(variables_.at(own.variable.impl().id()));
  std::map<std::pair<size_t, std::string>, size_t> slots;  // by weight and kind
  std::vector<std::string> kinds;
  for (const auto& slot : nodes_[node].slots) {
    slots[{slot.original, slot.name}] = slot.node;
    if (std::ranges::find(kinds, slot.name) == kinds.end()) kinds.push_back(slot.name);
  }
  const std::vector<size_t> trained = trained_by(node);
  for (const auto& group : optim::keras_slots(optimizer.class_name(), kinds)) {
    std::vector<std::vector<size_t>> lists(group.size());
    for (const size_t weight : trained)
      for (size_t i = 0; i < group.size(); ++i)
        if (const auto slot = slots.find({weight, group[i].slot}); slot != slots.end()) {
          lists[i].push_back(slot->second);
          all.push_back(slot->second);
        }
    for (size_t i = 0; i < group.size(); ++i)
      if (!group[i].attribute.empty()) add_keras_list(node, group[i].attribute, lists[i]);
  }
  if (is_keras2 && optimizer.class_name() == "SGD" && slots.empty())
    for (const size_t momentum : add_unused_momenta(node, trained)) all.push_back(momentum);
  if (const auto* nadam = dynamic_cast<const optim::Nadam*>(&optimizer)) {
    const size_t product =
        add_derived(node, "_u_product",
                    {[nadam] { return Tensor(nadam->momentum_product()); }, [](const Tensor&) {}});
    if (!is_keras2) all.push_back(product);
  }
  if (keras_version_ != 3 && !has_edge(node, "learning_rate"))  // a schedule
    add_derived(node, "_current_learning_rate",
                {[&optimizer] { return Tensor(optimizer.learning_rate()); }, [](const Tensor&) {}});
  add_keras_list(node, "_variables", all);
  add_keras_list(node, "_trainable_variables", trained);
}

/// Keras 2 stores the parts of the wrapped optimizer as parts of this one, and an object for the
/// scale.
DISTRIBUTE_INLINE void ProgramGraph::add_keras2_lists(size_t node,
                                                      const optim::LossScaleOptimizer& scaled) {
  const size_t inner = objects_.at(&scaled.inner_optimizer());
  add_keras_lists(inner, scaled.inner_optimizer());
  nodes_[node].lists = nodes_[inner].lists;
  const auto edges = nodes_[inner].children;
  for (const auto& edge : edges) add_alias(node, edge.name, edge.node);
  const size_t scale = add(node, "loss_scale", {});
  for (const auto& own : scaled.own_variables())
    nodes_[scale].children.push_back(
        {own.name == "step_counter" ? "good_steps" : "current_loss_scale",
         variables_.at(own.variable.impl().id())});
}

/// Keras 3 gives it a step count and a learning rate that stay 0.
DISTRIBUTE_INLINE void ProgramGraph::add_keras3_lists(size_t node,
                                                      const optim::LossScaleOptimizer& scaled) {
  const auto zero = [](Tensor value) {
    return train::TensorState{[value] { return value; }, [](const Tensor&) {}};
  };
  std::vector<size_t> all = {add_derived(node, "_iterations", zero(Tensor(int64_t{0}))),
                             add_derived(node, "_learning_rate", zero(Tensor(0.0f)))};
  for (const auto& own : scaled.own_variables())
    all.push_back(variables_.at(own.variable.impl().id()));
  add_keras_list(node, "_variables", all);
  add_keras_list(node, "_trainable_variables", trained_by(objects_.at(&scaled.inner_optimizer())));
}

}  // namespace distribute::checkpoint_internal
