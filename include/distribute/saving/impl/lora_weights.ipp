#pragma once
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/saving/detail/assign_weights.hpp>
#include <distribute/saving/detail/weight_files.hpp>
#include <distribute/saving/keras_model.hpp>
#include <distribute/strategy/scope.hpp>

#include <map>
#include <optional>

namespace distribute::saving_internal {

using LoraPlaces = std::map<std::string, const nn::LoraLayer*>;  // by the place in the model

DISTRIBUTE_INLINE void find_lora(const nn::Module& module, const std::string& place,
                                 LoraPlaces& found) {
  const auto* own = dynamic_cast<const nn::LoraLayer*>(&module);
  if (own && own->lora_enabled()) found[place] = own;
  for (const auto& [name, part] : module.children())
    find_lora(dynamic_cast<const nn::Module&>(*part), place + name + ".", found);
}

DISTRIBUTE_INLINE LoraPlaces lora_places(const nn::Module& model, const std::string& path) {
  if (!path.ends_with(".safetensors"))
    throw InvalidArgumentError(str_cat("'", path, "' does not end in .safetensors"));
  LoraPlaces found;
  find_lora(model, "", found);
  if (found.empty())
    throw FailedPreconditionError(
        "There are no lora-enabled layers in this model. Make sure to call enable_lora() first.");
  return found;
}

/// The two matrices, each with the end of its name.
DISTRIBUTE_INLINE std::map<std::string, Variable> matrices_of(const nn::LoraLayer& layer) {
  std::map<std::string, Variable> matrices;
  for (const auto& [name, variable] : layer.own_variables())
    if (variable == layer.lora_a() || variable == layer.lora_b()) matrices[name] = variable;
  return matrices;
}

DISTRIBUTE_INLINE std::string alpha_text(const nn::LoraLayer& layer) {
  return str_cat(layer.lora_alpha());
}

DISTRIBUTE_INLINE WeightAssignment find_lora_weights(const LoraPlaces& places,
                                                     const std::string& path) {
  const saving::safetensors::Contents file = saving::safetensors::load_file(path);
  WeightAssignment weights(path, {});
  std::map<std::string, bool> used;
  for (const auto& [place, layer] : places) {
    const auto alpha = file.metadata.find(place + "lora_alpha");
    if (alpha != file.metadata.end() && alpha->second != alpha_text(*layer))
      throw InvalidArgumentError(str_cat(path, ": layer '", layer->path(), "' has lora_alpha ",
                                         alpha_text(*layer), ", the file ", alpha->second));
    for (const auto& [name, variable] : matrices_of(*layer)) {
      const auto found = file.tensors.find(place + name);
      if (found == file.tensors.end()) {
        weights.take({.variable = variable, .key = {}});
        continue;
      }
      const Tensor value = found->second;
      weights.take(
          {variable, found->first, value.shape(), value.dtype(), [value] { return value; }});
      used[found->first] = true;
    }
  }
  for (const auto& [key, value] : file.tensors)
    if (!used.contains(key)) weights.result().unused.push_back(key);
  return weights;
}

}  // namespace distribute::saving_internal

namespace distribute::saving {

DISTRIBUTE_INLINE void save_lora_weights(nn::Module& model, const std::string& path) {
  using namespace saving_internal;
  safetensors::Tensors tensors;
  safetensors::Metadata metadata{{"format", "pt"}};
  for (const auto& [place, layer] : lora_places(model, path)) {
    metadata[place + "lora_alpha"] = alpha_text(*layer);
    for (const auto& [name, variable] : matrices_of(*layer))
      tensors[place + name] = train::value_to_save(variable);
  }
  write_on_chief(path, safetensors::serialize(tensors, metadata));
}

DISTRIBUTE_INLINE train::LoadedWeights load_lora_weights(nn::Module& model,
                                                         const std::string& path) {
  using namespace saving_internal;
  const LoraPlaces places = lora_places(model, path);
  std::optional<WeightAssignment> weights;
  checkpoint_internal::read_on_all_workers(
      get_strategy(), [&] { weights.emplace(find_lora_weights(places, path)); });
  return weights->assign();
}

}  // namespace distribute::saving
