#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/detail/module_names.hpp>
#include <distribute/nn/module.hpp>

#include <algorithm>

namespace distribute::nn::nn_internal {

DISTRIBUTE_INLINE std::shared_ptr<ModuleNames> ModuleNames::of_this_thread() {
  thread_local const auto names = std::make_shared<ModuleNames>();
  return names;
}

DISTRIBUTE_INLINE uint64_t ModuleNames::add(nn::Module& module) {
  const std::lock_guard lock(mutex_);
  unnamed_[next_place_] = &module;
  return next_place_++;
}

DISTRIBUTE_INLINE void ModuleNames::remove(uint64_t place) {
  const std::lock_guard lock(mutex_);
  unnamed_.erase(place);
}

DISTRIBUTE_INLINE void ModuleNames::move(uint64_t place, nn::Module& to) {
  const std::lock_guard lock(mutex_);
  if (const auto found = unnamed_.find(place); found != unnamed_.end()) found->second = &to;
}

DISTRIBUTE_INLINE void ModuleNames::name_up_to(uint64_t place) {
  const std::lock_guard lock(mutex_);
  while (!unnamed_.empty() && unnamed_.begin()->first <= place) name_first();
}

DISTRIBUTE_INLINE void ModuleNames::name_first() {
  nn::Module& module = *unnamed_.begin()->second;
  module.name_ = next_name(module);
  unnamed_.erase(unnamed_.begin());
  module.mark_named();
}

/// A name that a neighbour was given is left out.
DISTRIBUTE_INLINE std::string ModuleNames::next_name(const nn::Module& module) {
  const std::string kind = module.kind();
  const nn::Module* around = module.scope_owner();
  while (true) {
    const int64_t number = counts_[kind]++;
    const std::string name = number == 0 ? kind : str_cat(kind, "_", number);
    if (!around || !around->scope_has(name)) return name;
  }
}

DISTRIBUTE_INLINE void ModuleNames::reorder(const std::vector<nn::Module*>& modules) {
  const std::lock_guard lock(mutex_);
  std::vector<uint64_t> places;
  for (const nn::Module* module : modules) places.push_back(module->place());
  std::sort(places.begin(), places.end());
  for (size_t i = 0; i < modules.size(); ++i) {
    unnamed_[places[i]] = modules[i];
    modules[i]->set_place(places[i]);
  }
}

DISTRIBUTE_INLINE void ModuleNames::reset() {
  const std::lock_guard lock(mutex_);
  while (!unnamed_.empty()) name_first();
  counts_.clear();
}

}  // namespace distribute::nn::nn_internal
