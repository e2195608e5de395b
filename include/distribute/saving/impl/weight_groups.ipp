#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/module_list.hpp>
#include <distribute/saving/detail/weight_groups.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace distribute::saving_internal {

DISTRIBUTE_INLINE std::string below(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "/" + name;
}

DISTRIBUTE_INLINE bool is_functional(const nn::Module& module) {
  const std::string kind = module.class_name();
  return kind == "resnet" || kind == "small_resnet" || kind == "resnet9" || kind == "functional";
}

DISTRIBUTE_INLINE std::vector<Variable> own_in_order(const nn::Module& module) {
  std::vector<Variable> variables;
  for (const auto& [name, variable] : module.own_variables()) variables.push_back(variable);
  std::stable_partition(variables.begin(), variables.end(),
                        [](const Variable& v) { return v.trainable(); });
  return variables;
}

/// What Keras calls a part of one of its own layers; of other modules what the part is called.
DISTRIBUTE_INLINE std::string attribute_of_part(const nn::Module& module, const std::string& name) {
  const std::string kind = module.class_name();
  if (kind == "multi_head_attention")
    return name == "attention_output" ? "output_dense" : name + "_dense";
  if (kind == "bidirectional")
    return name.starts_with("backward") ? "backward_layer" : "forward_layer";
  return name.ends_with("_cell") ? "cell" : name;
}

/// Visits the calls that lead to an output, each behind those that it needs.
class GraphOrder {
 public:
  explicit GraphOrder(const nn::Functional& model) : model_(model) {
    for (size_t i = 0; i < model.steps().size(); ++i) makers_[model.steps()[i].result] = i;
    std::map<std::string, size_t> outputs;  // Keras sorts several outputs by their names
    for (size_t i = 0; i < model.output_nodes().size(); ++i)
      outputs[model.output_names()[i]] = model.output_nodes()[i];
    for (const auto& [name, node] : outputs) visit(node);
  }

  /// Layers with their distances from the outputs; a layer that is called twice has the larger one.
  std::vector<const nn::Module*> layers() const {
    std::map<size_t, int64_t> of_call;
    std::map<const nn::Module*, int64_t> of_layer;
    for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
      const nn::Functional::Step& step = model_.steps()[*call];
      int64_t& distance = of_layer[step.layer];
      distance = std::max(distance, of_call[*call]);
      for (const size_t input : step.inputs)
        if (const auto maker = makers_.find(input); maker != makers_.end())
          of_call[maker->second] = std::max(of_call[maker->second], distance + 1);
    }
    std::vector<const nn::Module*> sorted = first_seen_;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](const auto* a, const auto* b) { return of_layer.at(a) > of_layer.at(b); });
    return sorted;
  }

 private:
  void visit(size_t node) {
    const auto maker = makers_.find(node);
    if (maker == makers_.end() || !seen_.insert(maker->second).second) return;
    const nn::Functional::Step& step = model_.steps()[maker->second];
    if (std::find(first_seen_.begin(), first_seen_.end(), step.layer) == first_seen_.end())
      first_seen_.push_back(step.layer);
    for (const size_t input : step.inputs) visit(input);
    calls_.push_back(maker->second);
  }

  const nn::Functional& model_;
  std::map<size_t, size_t> makers_;  // the call that makes a node
  std::set<size_t> seen_;
  std::vector<size_t> calls_;
  std::vector<const nn::Module*> first_seen_;
};

DISTRIBUTE_INLINE std::vector<const nn::Module*> layers_in_order(const nn::Functional& model) {
  return GraphOrder(model).layers();
}

/// The layers of a list or of a model, in Keras's order.
DISTRIBUTE_INLINE std::vector<const nn::Module*> layers_of(const nn::Module& list) {
  if (const auto* graph = dynamic_cast<const nn::Functional*>(&list))
    return layers_in_order(*graph);
  std::vector<const nn::Module*> layers;
  for (const auto& [name, object] : list.children())
    layers.push_back(&dynamic_cast<const nn::Module&>(*object));
  return layers;
}

/// Walks the parts of a model.
class GroupWalk {
 public:
  void visit(const nn::Module& module, const std::string& path) {
    groups.push_back({.path = path, .layer = module.name(), .variables = own_in_order(module)});
    WeightGroup& group = groups.back();
    group.outermost = outermost_;
    group.trainable = module.trainable();
    group.rest = path.substr(std::min(path.size(), outermost_path_.size()));
    if (dynamic_cast<const nn::Sequential*>(&module) || is_functional(module))
      return visit_list(module, below(path, "layers"));
    for (const auto& [name, object] : module.children()) {
      const auto& part = dynamic_cast<const nn::Module&>(*object);
      const std::string there = below(path, attribute_of_part(module, name));
      if (dynamic_cast<const nn::ModuleListBase*>(&part))
        visit_list(part, there);
      else
        visit_part(part, there);
    }
  }

  std::vector<WeightGroup> groups;

 private:
  void visit_list(const nn::Module& list, const std::string& path) {
    std::map<std::string, int> seen;
    for (const nn::Module* part : layers_of(list)) {
      const std::string kind = part->class_name();
      const int number = seen[kind]++;
      visit_part(*part, below(path, number ? str_cat(kind, "_", number) : kind));
    }
  }

  void visit_part(const nn::Module& part, const std::string& path) {
    const bool outermost = outermost_.empty();
    if (outermost) {
      outermost_ = part.name();
      outermost_path_ = path;
    }
    visit(part, path);
    if (outermost) outermost_.clear();
  }

  std::string outermost_, outermost_path_;
};

DISTRIBUTE_INLINE std::vector<WeightGroup> weight_groups(const nn::Module& module) {
  GroupWalk walk;
  walk.visit(module, "");
  return std::move(walk.groups);
}

}  // namespace distribute::saving_internal
