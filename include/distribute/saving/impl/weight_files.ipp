#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/saving/detail/file_values.hpp>
#include <distribute/saving/detail/legacy_weights.hpp>
#include <distribute/saving/detail/optimizer_state.hpp>
#include <distribute/saving/detail/weight_files.hpp>
#include <distribute/saving/detail/weight_groups.hpp>
#include <distribute/strategy/scope.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace distribute::saving_internal {

DISTRIBUTE_INLINE void add_optimizer(const nn::Module& module, optim::Optimizer& optimizer,
                                     const std::string& place, Hdf5Contents& contents) {
  contents.attributes[place]["name"] = optimizer.name();
  const std::vector<Variable> state = optimizer_variables(module, optimizer);
  for (size_t i = 0; i < state.size(); ++i)
    contents.arrays[str_cat(place, "/", i)] = train::value_to_save(state[i]);
}

DISTRIBUTE_INLINE Hdf5Contents weights_h5(const nn::Module& module, optim::Optimizer* optimizer) {
  Hdf5Contents contents;
  const FileValues value(module);
  for (const WeightGroup& group : weight_groups(module)) {
    const std::string place = group.path.empty() ? "vars" : group.path + "/vars";
    contents.attributes[place]["name"] = group.layer;
    for (size_t i = 0; i < group.variables.size(); ++i)
      contents.arrays[str_cat(place, "/", i)] = value(group.variables[i]);
  }
  if (!optimizer) return contents;
  add_optimizer(module, *optimizer, "optimizer/vars", contents);
  // Keras writes an optimizer that is wrapped with the one around it and by itself.
  if (auto* scaled = dynamic_cast<optim::LossScaleOptimizer*>(optimizer))
    add_optimizer(module, scaled->inner_optimizer(), "optimizer/inner_optimizer/vars", contents);
  return contents;
}

/// Whole variables of the module and its parts.
DISTRIBUTE_INLINE std::vector<Variable> whole_variables(const nn::Module& module) {
  std::vector<Variable> all;
  std::set<uint64_t> seen;
  for (const WeightGroup& group : weight_groups(module))
    for (const Variable& variable : group.variables)
      if (seen.insert(variable.impl().id()).second) all.push_back(variable);
  return all;
}

DISTRIBUTE_INLINE saving::safetensors::Tensors weights_by_name(const nn::Module& module) {
  saving::safetensors::Tensors tensors;
  const FileValues value(module);
  for (const Variable& variable : whole_variables(module)) {
    const std::string name = train::saved_name(variable);
    if (!tensors.emplace(name, value(variable)).second)
      throw InvalidArgumentError(str_cat("save_weights: two variables would be called '", name,
                                         "'; give one of the layers another name"));
  }
  return tensors;
}

DISTRIBUTE_INLINE FoundWeight found_array(const Hdf5Reader& file, const Variable& variable,
                                          const std::string& path) {
  FoundWeight found{.variable = variable, .key = {}};
  const auto array = file.arrays().find(path);
  if (array == file.arrays().end()) return found;
  found.key = path;
  found.shape = array->second.shape;
  found.dtype = array->second.dtype;
  found.read = [&file, path] { return file.read(path); };
  return found;
}

/// Returns the paths of the file's groups by the names of layers below "layers"; a name that occurs
/// twice counts as missing.
DISTRIBUTE_INLINE std::map<std::string, std::string> places_by_name(const Hdf5Reader& file) {
  constexpr std::string_view kEnd = "/vars";
  std::map<std::string, std::string> places;
  std::set<std::string> twice;
  for (const std::string& group : file.groups()) {
    if (!group.ends_with(kEnd)) continue;
    const std::string path = group.substr(0, group.size() - kEnd.size());
    if (std::count(path.begin(), path.end(), '/') > 1) continue;  // inside of a layer
    for (const std::string& name : file.texts(group, "name"))
      if (!places.emplace(name, path).second) twice.insert(name);
  }
  for (const std::string& name : twice) places.erase(name);
  return places;
}

/// The number of arrays of a group.
DISTRIBUTE_INLINE size_t count_arrays(const Hdf5Reader& file, const std::string& place) {
  size_t count = 0;
  while (file.arrays().contains(str_cat(place, "/", count))) ++count;
  return count;
}

DISTRIBUTE_INLINE void note_unused(const Hdf5Reader& file, const std::set<std::string>& used,
                                   WeightAssignment& weights) {
  for (const auto& [path, array] : file.arrays())
    if (!used.contains(path)) weights.result().unused.push_back(path);
}

DISTRIBUTE_INLINE bool has_all_names(const std::map<std::string, std::string>& places,
                                     const std::vector<WeightGroup>& groups) {
  return std::all_of(groups.begin(), groups.end(), [&](const WeightGroup& group) {
    return group.variables.empty() || group.outermost.empty() || places.contains(group.outermost);
  });
}

DISTRIBUTE_INLINE void find_in_keras3(const Hdf5Reader& file, const nn::Module& module,
                                      bool by_name, WeightAssignment& weights) {
  const auto places = places_by_name(file);
  const auto groups = weight_groups(module);
  const bool names = by_name || (is_functional(module) && has_all_names(places, groups));
  std::set<std::string> used;
  for (const WeightGroup& group : groups) {
    if (group.variables.empty()) continue;
    std::string path = group.path;
    if (names && !group.outermost.empty()) {
      const auto place = places.find(group.outermost);
      path = place == places.end() ? "(no layer of this name)" : place->second + group.rest;
    }
    const std::string place = path.empty() ? "vars" : path + "/vars";
    const size_t count = count_arrays(file, place);
    if (count > 0 && count != group.variables.size()) {
      weights.refuse(group.variables, str_cat("'", place, "' has ", count, " weights, layer '",
                                              group.layer, "' has ", group.variables.size()));
      continue;
    }
    for (size_t i = 0; i < group.variables.size(); ++i) {
      const std::string array = str_cat(place, "/", i);
      weights.take(found_array(file, group.variables[i], array));
      used.insert(array);
    }
  }
  note_unused(file, used, weights);
}

DISTRIBUTE_INLINE std::string without_first_part(const std::string& name) {
  return name.substr(name.find('/') + 1);
}

/// Whether all names begin with the same part, that of a model.
DISTRIBUTE_INLINE bool have_one_model(const saving::safetensors::Tensors& file) {
  return std::all_of(file.begin(), file.end(), [&](const auto& entry) {
    const std::string& first = file.begin()->first;
    return entry.first.find('/') != std::string::npos &&
           entry.first.substr(0, entry.first.find('/')) == first.substr(0, first.find('/'));
  });
}

/// Returns names in the file by the names of the variables: with the model's name, without it, or
/// with that of another model, since a program may have several.
DISTRIBUTE_INLINE std::map<std::string, std::string> keys_by_name(
    const saving::safetensors::Tensors& file, const std::vector<Variable>& variables) {
  const auto has = [&](bool with_model) {
    return std::any_of(variables.begin(), variables.end(), [&](const Variable& variable) {
      const std::string name = train::saved_name(variable);
      return file.contains(with_model ? name : without_first_part(name));
    });
  };
  std::map<std::string, std::string> keys;
  const bool with_model = has(true),
             other_model = !with_model && !has(false) && have_one_model(file);
  for (const Variable& variable : variables) {
    const std::string name = train::saved_name(variable);
    keys[name] = with_model ? name : without_first_part(name);
    if (other_model)
      keys[name] = file.begin()->first.substr(0, file.begin()->first.find('/') + 1) + keys[name];
  }
  return keys;
}

/// The paths of an optimizer's variables; Keras 2 had another order.
DISTRIBUTE_INLINE std::vector<std::string> optimizer_paths(const Hdf5Reader& file) {
  std::vector<std::string> paths;
  if (is_legacy(file)) {
    paths = legacy_optimizer_paths(file);
    if (!paths.empty() && !paths[0].ends_with("/iteration"))
      throw UnimplementedError(file.name() +
                               ": the optimizer is of Keras 2; load the model "
                               "without it, or save it anew with Keras 3");
  } else {
    const size_t count = count_arrays(file, "optimizer/vars");
    for (size_t i = 0; i < count; ++i) paths.push_back(str_cat("optimizer/vars/", i));
  }
  return paths;
}

DISTRIBUTE_INLINE void find_optimizer(const Hdf5Reader& file, const nn::Module& module,
                                      optim::Optimizer& optimizer, WeightAssignment& weights) {
  const std::vector<Variable> state = optimizer_variables(module, optimizer);
  const std::vector<std::string> paths = optimizer_paths(file);
  if (paths.empty()) throw NotFoundError(file.name() + ": there is no optimizer in it");
  if (paths.size() != state.size())
    throw InvalidArgumentError(str_cat(
        file.name(), ": its optimizer has ", paths.size(), " variables, '", optimizer.name(),
        "' has ", state.size(), ": give it the same class, options and kind of learning rate"));
  for (size_t i = 0; i < state.size(); ++i) weights.take(found_array(file, state[i], paths[i]));
  std::erase_if(weights.result().unused, [&](const std::string& path) {
    return path.starts_with("optimizer/inner_optimizer/") ||
           std::find(paths.begin(), paths.end(), path) != paths.end();
  });
}

DISTRIBUTE_INLINE void find_by_name(const saving::safetensors::Tensors& file,
                                    const nn::Module& module, WeightAssignment& weights) {
  const std::vector<Variable> variables = whole_variables(module);
  const auto keys = keys_by_name(file, variables);
  std::set<std::string> used;
  for (const Variable& variable : variables) {
    const std::string& name = keys.at(train::saved_name(variable));
    FoundWeight found{.variable = variable, .key = {}};
    if (const auto value = file.find(name); value != file.end())
      found = {variable, name, value->second.shape(), value->second.dtype(),
               [value] { return value->second; }};
    weights.take(found);
    used.insert(name);
  }
  for (const auto& [name, value] : file)
    if (!used.contains(name)) weights.result().unused.push_back(name);
}

DISTRIBUTE_INLINE void write_on_chief(const std::string& path, const std::string& bytes) {
  train::WorkerSave save(get_strategy(), path);
  save.run([&] { throw_if_error(io::write_file_atomically(save.path(), bytes)); });
  save.commit();
}

}  // namespace distribute::saving_internal
