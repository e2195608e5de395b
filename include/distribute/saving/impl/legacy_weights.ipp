#pragma once
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/saving/detail/file_values.hpp>
#include <distribute/saving/detail/legacy_weights.hpp>
#include <distribute/saving/detail/optimizer_state.hpp>
#include <distribute/saving/detail/weight_files.hpp>
#include <distribute/saving/detail/weight_groups.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

namespace distribute::saving_internal {

inline constexpr const char* kTopLevel = "top_level_model_weights";
inline constexpr const char* kOptimizerWeights = "optimizer_weights";

DISTRIBUTE_INLINE bool is_legacy_path(const std::string& path) {
  return (path.ends_with(".h5") || path.ends_with(".hdf5")) && !path.ends_with(".weights.h5");
}

/// A part of the model with all that is in it, or the model's own weights, without a name.
struct LegacyPart {
  std::string name;
  std::vector<Variable> variables;  // those that are trained first, as in Keras
};

/// Returns the parts in the model's order.
DISTRIBUTE_INLINE std::vector<LegacyPart> legacy_parts(const nn::Module& module) {
  std::vector<LegacyPart> parts;
  std::vector<Variable> others;
  std::set<uint64_t> seen;
  const auto finish = [&] {
    if (!parts.empty())
      parts.back().variables.insert(parts.back().variables.end(), others.begin(), others.end());
    others.clear();
  };
  for (const WeightGroup& group : weight_groups(module)) {
    if (group.rest.empty()) {
      finish();
      parts.push_back({group.outermost, {}});
    }
    for (const Variable& variable : group.variables) {
      if (!seen.insert(variable.impl().id()).second) continue;  // listed by the layer around it
      (group.trainable && variable.trainable() ? parts.back().variables : others)
          .push_back(variable);
    }
  }
  finish();
  return parts;
}

/// A list under `name`, or in parts under name0, name1, ... where an attribute cannot hold it.
DISTRIBUTE_INLINE void add_list(const std::string& name, const std::vector<std::string>& texts,
                                std::map<std::string, std::vector<std::string>>& lists) {
  constexpr size_t kMostBytes = 64512, kLeastWidth = 16;
  size_t width = kLeastWidth;
  for (const std::string& text : texts) width = std::max(width, text.size());
  const size_t most = std::max<size_t>(1, kMostBytes / width);
  if (texts.size() <= most) {
    lists[name] = texts;
    return;
  }
  for (size_t begin = 0, part = 0; begin < texts.size(); begin += most, ++part) {
    const size_t end = std::min(begin + most, texts.size());
    lists[str_cat(name, part)] = {texts.begin() + int64_t(begin), texts.begin() + int64_t(end)};
  }
}

/// Weights of one group of the file under these names.
DISTRIBUTE_INLINE void add_weights(const std::string& group, const std::vector<std::string>& names,
                                   const std::vector<Variable>& variables, const FileValues& value,
                                   Hdf5Contents& contents) {
  for (size_t i = 0; i < names.size(); ++i)
    if (!contents.arrays.emplace(group + "/" + names[i], value(variables[i])).second)
      throw InvalidArgumentError(str_cat("two weights would be called '", names[i], "' in '", group,
                                         "'; give one of the layers another name"));
  add_list("weight_names", names, contents.lists[group]);
}

DISTRIBUTE_INLINE Hdf5Contents legacy_weights(const nn::Module& module, const std::string& root) {
  Hdf5Contents contents;
  contents.attributes[root] = {{"backend", "tensorflow"}, {"keras_version", kKerasVersion}};
  std::vector<std::string> layers;
  const FileValues value(module);
  for (const auto& [name, variables] : legacy_parts(module)) {
    std::vector<std::string> names;
    for (const Variable& variable : variables) names.push_back(train::saved_name(variable));
    const std::string layer = name.empty() ? kTopLevel : name;
    const std::string group = below(root, layer);
    if (contents.lists.contains(group))
      throw InvalidArgumentError(
          str_cat("two groups would be called '", group, "'; give the layer another name"));
    add_weights(group, names, variables, value, contents);
    if (!name.empty()) layers.push_back(name);
  }
  add_list("layer_names", layers, contents.lists[root]);
  return contents;
}

/// Adds variables named "adam/iteration", "adam/sequential_dense_kernel_m"; only their order
/// matters. The variables of a wrapped optimizer follow those of the wrapper.
DISTRIBUTE_INLINE void add_optimizer(const nn::Module& module, optim::Optimizer& optimizer,
                                     Hdf5Contents& contents) {
  const auto* scaled = dynamic_cast<const optim::LossScaleOptimizer*>(&optimizer);
  const std::vector<Variable> state = optimizer_variables(module, optimizer);
  const size_t own = scaled ? 2 + scaled->own_variables().size() : state.size();
  std::vector<std::string> names;
  for (size_t i = 0; i < state.size(); ++i) {
    std::string name = i == 0 || i == own ? "iteration" : train::saved_name(state[i]);
    std::replace(name.begin(), name.end(), '/', '_');
    names.push_back((i < own ? optimizer : scaled->inner_optimizer()).name() + "/" + name);
  }
  add_weights(kOptimizerWeights, names, state, FileValues(module), contents);
}

/// Returns the arguments with which Keras compiles the model: the optimizer, and no loss.
DISTRIBUTE_INLINE std::string training_config(const optim::Optimizer& optimizer) {
  const auto all = nlohmann::ordered_json::parse(optimizer_config(optimizer));
  return nlohmann::ordered_json(
             {{"loss", nullptr},
              {"loss_weights", nullptr},
              {"metrics", nullptr},
              {"weighted_metrics", nullptr},
              {"run_eagerly", false},
              {"steps_per_execution", 1},
              {"jit_compile", false},
              {"optimizer_config",
               {{"class_name", all.at("class_name")}, {"config", all.at("config")}}}})
      .dump();
}

DISTRIBUTE_INLINE Hdf5Contents legacy_model(const nn::Module& module, const std::string& config,
                                            optim::Optimizer* optimizer) {
  Hdf5Contents contents = legacy_weights(module, "model_weights");
  auto& attributes = contents.attributes[""];
  attributes = {
      {"backend", "tensorflow"}, {"keras_version", kKerasVersion}, {"model_config", config}};
  if (!optimizer) return contents;
  attributes["training_config"] = training_config(*optimizer);
  add_optimizer(module, *optimizer, contents);
  return contents;
}

/// The group of a legacy file that holds the layers, "" or "model_weights" of a whole model.
DISTRIBUTE_INLINE std::string legacy_root(const Hdf5Reader& file) {
  const auto has = [&](const char* attribute) { return !file.texts("", attribute).empty(); };
  return has("layer_names") || has("layer_names0") ? "" : "model_weights";
}

/// A list of texts, which is in several attributes where it is long.
DISTRIBUTE_INLINE std::vector<std::string> legacy_texts(const Hdf5Reader& file,
                                                        const std::string& group,
                                                        const std::string& attribute) {
  std::vector<std::string> all = file.texts(group, attribute);
  for (int part = 0; all.empty() || part > 0; ++part) {
    const auto more = file.texts(group, str_cat(attribute, part));
    if (more.empty()) break;
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

/// The paths of the weights below a group, in order.
DISTRIBUTE_INLINE std::vector<std::string> legacy_paths(const Hdf5Reader& file,
                                                        const std::string& group) {
  std::vector<std::string> paths;
  for (const std::string& weight : legacy_texts(file, group, "weight_names"))
    paths.push_back(group + "/" + weight);
  return paths;
}

DISTRIBUTE_INLINE bool is_legacy(const Hdf5Reader& file) {
  const std::string root = legacy_root(file);
  return !legacy_texts(file, root, "layer_names").empty() ||
         !legacy_paths(file, below(root, kTopLevel)).empty();
}

DISTRIBUTE_INLINE std::vector<std::string> legacy_optimizer_paths(const Hdf5Reader& file) {
  return legacy_paths(file, kOptimizerWeights);
}

/// The paths of the weights of each layer that has some, by the names of layers, in order; the
/// model's own, where there are some, come first, without a name.
DISTRIBUTE_INLINE std::vector<std::pair<std::string, std::vector<std::string>>> legacy_layers(
    const Hdf5Reader& file) {
  const std::string root = legacy_root(file);
  std::vector<std::pair<std::string, std::vector<std::string>>> layers;
  const auto add = [&](const std::string& layer, const std::string& name) {
    auto paths = legacy_paths(file, below(root, layer));
    if (!paths.empty()) layers.emplace_back(name, std::move(paths));
  };
  add(kTopLevel, "");
  for (const std::string& layer : legacy_texts(file, root, "layer_names")) add(layer, layer);
  return layers;
}

DISTRIBUTE_INLINE void find_in_legacy(const Hdf5Reader& file, const nn::Module& module,
                                      bool by_name, WeightAssignment& weights) {
  std::vector<LegacyPart> parts = legacy_parts(module);
  std::erase_if(parts, [](const LegacyPart& part) { return part.variables.empty(); });
  const auto layers = legacy_layers(file);
  std::map<std::string, std::vector<std::string>> named(layers.begin(), layers.end());
  const bool names = by_name || std::all_of(parts.begin(), parts.end(), [&](const auto& part) {
                       return named.contains(part.name);
                     });
  std::set<std::string> used;
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto& [name, variables] = parts[i];
    std::vector<std::string> paths;
    if (names && named.contains(name)) paths = named[name];
    if (!names && i < layers.size()) paths = layers[i].second;
    if (!paths.empty() && paths.size() != variables.size()) {
      weights.refuse(variables,
                     str_cat("layer '", names ? name : layers[i].first, "' has ", paths.size(),
                             " weights, layer '", name, "' of the model ", variables.size()));
      continue;
    }
    paths.resize(variables.size());
    for (size_t k = 0; k < variables.size(); ++k) {
      weights.take(found_array(file, variables[k], paths[k]));
      used.insert(paths[k]);
    }
  }
  note_unused(file, used, weights);
}

DISTRIBUTE_INLINE std::string legacy_config(const Hdf5Reader& file) {
  const auto config = file.texts("", "model_config"), version = file.texts("", "keras_version");
  if (config.empty())
    throw NotFoundError(file.name() + ": there is no model in it; load_weights reads weights");
  if (version.empty() || version[0].starts_with("1.") || version[0].starts_with("2."))
    throw UnimplementedError(str_cat(file.name(), ": the model is of Keras ",
                                     version.empty() ? "1" : version[0],
                                     "; save it anew with Keras 3, or build it in the program, and "
                                     "load_weights fills it"));
  return config[0];
}

}  // namespace distribute::saving_internal
