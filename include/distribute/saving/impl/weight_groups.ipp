#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/module_list.hpp>
#include <distribute/nn/sequential.hpp>
#include <distribute/saving/detail/weight_groups.hpp>

#include <algorithm>
#include <map>

namespace distribute::saving_internal {

DISTRIBUTE_INLINE std::string below(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "/" + name;
}

DISTRIBUTE_INLINE bool is_functional(const nn::Module& module) {
  const std::string kind = module.class_name();
  return kind == "resnet" || kind == "small_resnet" || kind == "resnet9";
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

/// Walks the parts of a model.
class GroupWalk {
 public:
  void visit(const nn::Module& module, const std::string& path) {
    groups.push_back({.path = path, .layer = module.name(), .variables = own_in_order(module)});
    WeightGroup& group = groups.back();
    group.outermost = outermost_;
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
    for (const auto& [name, object] : list.children()) {
      const auto& part = dynamic_cast<const nn::Module&>(*object);
      const std::string kind = part.class_name();
      const int number = seen[kind]++;
      visit_part(part, below(path, number ? str_cat(kind, "_", number) : kind));
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
