#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/nn/module_list.hpp>
#include <distribute/nn/module_saver.hpp>
#include <distribute/nn/resnet.hpp>
#include <distribute/saving/detail/file_values.hpp>
#include <distribute/saving/detail/weight_groups.hpp>

#include <algorithm>
#include <map>

namespace distribute::saving_internal {

DISTRIBUTE_INLINE std::string below(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "/" + name;
}

template <typename... Classes>
bool is_one_of(const nn::Module& module) {
  return (dynamic_cast<const Classes*>(&module) || ...);
}

/// A class of the program may have the name of one of these.
DISTRIBUTE_INLINE bool is_functional(const nn::Module& module) {
  using namespace nn::applications;
  return is_one_of<nn::Functional, ResNet, SmallResNet, ResNet9>(module);
}

DISTRIBUTE_INLINE std::vector<Variable> own_in_order(const nn::Module& module) {
  std::vector<Variable> variables;
  for (const auto& [name, variable] : variables_in_files(module)) variables.push_back(variable);
  std::stable_partition(variables.begin(), variables.end(),
                        [](const Variable& v) { return v.trainable(); });
  return variables;
}

DISTRIBUTE_INLINE std::vector<const nn::Module*> layers_in_order(const nn::Functional& model) {
  std::vector<const nn::Module*> layers = nn::keras_operations(model);
  std::erase(layers, nullptr);
  return layers;
}

/// Paths leave out the underscores that Keras's attributes begin with.
DISTRIBUTE_INLINE std::string path_of_part(const nn::Module& module, const std::string& name) {
  const std::string attribute = nn::keras_attribute(module, name);
  if (attribute == "_gate_dense") return attribute;  // Keras has no property gate_dense
  return attribute.substr(attribute.find_first_not_of('_'));
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
      const std::string there = below(path, path_of_part(module, name));
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
    for (const nn::Module* part : nn::keras_layers(list)) {
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
