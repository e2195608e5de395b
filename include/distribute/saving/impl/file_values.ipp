#pragma once
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/saving/detail/file_values.hpp>

namespace distribute::saving_internal {

DISTRIBUTE_INLINE std::vector<Trackable::NamedVariable> variables_in_files(
    const nn::Module& layer) {
  std::vector<Trackable::NamedVariable> variables = layer.own_variables();
  const auto* lora = dynamic_cast<const nn::LoraLayer*>(&layer);
  if (lora && lora->lora_enabled())
    std::erase_if(variables, [&](const Trackable::NamedVariable& own) {
      return own.variable == lora->lora_a() || own.variable == lora->lora_b();
    });
  return variables;
}

DISTRIBUTE_INLINE FileValues::FileValues(const nn::Module& module) {
  for (const nn::LoraLayer* layer : nn::lora_layers(module))
    merged_[layer->lora_weight().impl().id()] = layer;
}

DISTRIBUTE_INLINE Tensor FileValues::operator()(const Variable& weight) const {
  const auto found = merged_.find(weight.impl().id());
  return found == merged_.end() ? train::value_to_save(weight) : found->second->merged_weight();
}

DISTRIBUTE_INLINE void clear_lora(const nn::Module& module, WeightAssignment& weights) {
  for (const nn::LoraLayer* layer : nn::lora_layers(module))
    if (weights.has(layer->lora_weight())) weights.clear(layer->lora_b());
}

}  // namespace distribute::saving_internal
