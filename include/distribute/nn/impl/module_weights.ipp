#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/detail/module_state.hpp>
#include <distribute/nn/detail/summary_table.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/ops/random.hpp>

#include <algorithm>
#include <utility>

namespace distribute::nn {

DISTRIBUTE_INLINE Variable Module::add_weight(const std::string& name, const Shape& shape,
                                              const Initializer& initializer,
                                              VariableOptions options) {
  options.name = path_to(name);
  // All copies have one seed, as a strategy may ask for the value more than once.
  const uint64_t seed = random::next_seed();
  const auto first_value = [=, name = options.name](nn::InitialRows rows) {
    try {
      return initializer(shape, seed, rows);
    } catch (const InvalidArgumentError& error) {
      throw InvalidArgumentError(str_cat("weight '", name, "': ", error.what()));
    }
  };
  options.shape = shape;
  options.initial_rows = [=](int64_t begin, int64_t end) { return first_value({begin, end}); };
  Variable weight([=] { return first_value({}); }, options);
  restore_created(name, weight);
  weights_.push_back({name, weight});
  return weight;
}

DISTRIBUTE_INLINE void Module::share_weight(const NamedVariable& weight) {
  state_->shared.push_back(weight);
}

DISTRIBUTE_INLINE std::vector<Module*> Module::submodules() {
  std::vector<Module*> all;
  for (auto& [name, part] : children_) {
    all.push_back(part.get());
    for (Module* below : part->submodules()) all.push_back(below);
  }
  return all;
}

/// Collects the weights: with `wanted` 1 the trainable ones, with 0 the others, with -1 all.
DISTRIBUTE_INLINE void Module::collect(std::vector<Variable>& all, int wanted) const {
  const size_t first = all.size();
  const std::vector<NamedVariable> own = Module::own_variables();
  for (const bool trainable : {true, false})
    for (const NamedVariable& weight : own) {
      if (weight.variable.trainable() != trainable) continue;
      if (wanted >= 0 && trains(weight.variable) != (wanted == 1)) continue;
      const std::vector<Variable> shards = with_parts({weight.variable});
      all.insert(all.end(), shards.begin(), shards.end());
    }
  const size_t end_of_own = all.size();
  for (const auto& [name, part] : children_) part->collect(all, wanted);
  if (state_->shared.empty()) return;
  const auto is_listed = [&](const Variable& variable) {
    const auto end = all.begin() + int64_t(end_of_own);
    return std::find(all.begin() + int64_t(first), end, variable) != end;
  };
  all.erase(std::remove_if(all.begin() + int64_t(end_of_own), all.end(), is_listed), all.end());
}

DISTRIBUTE_INLINE std::vector<Variable> Module::variables() const {
  std::vector<Variable> all;
  collect(all, -1);
  return all;
}
DISTRIBUTE_INLINE std::vector<Variable> Module::trainable_variables() const {
  std::vector<Variable> all;
  collect(all, 1);
  return all;
}
DISTRIBUTE_INLINE std::vector<Variable> Module::non_trainable_variables() const {
  std::vector<Variable> all;
  collect(all, 0);
  return all;
}

DISTRIBUTE_INLINE int64_t Module::count_params() const {
  int64_t count = 0;
  for (const Variable& weight : variables()) count += weight.shape().num_elements();
  return count;
}

DISTRIBUTE_INLINE void Module::collect_weight_terms(std::vector<Tensor>& all) const {
  if (trainable_)
    for (Tensor& term : own_losses()) all.push_back(std::move(term));
  for (const auto& [name, part] : children_) part->collect_weight_terms(all);
}

DISTRIBUTE_INLINE std::vector<Tensor> Module::losses() const {
  std::vector<Tensor> terms;
  collect_penalties(terms);
  collect_weight_terms(terms);
  return terms;
}

DISTRIBUTE_INLINE std::vector<Trackable::NamedVariable> Module::own_variables() const {
  std::vector<NamedVariable> own = state_->shared;
  own.insert(own.end(), weights_.begin(), weights_.end());
  return own;
}

DISTRIBUTE_INLINE std::vector<Trackable::Child> Module::children() const {
  std::vector<Child> parts;
  for (const auto& [name, part] : children_) parts.push_back({name, part.get()});
  return parts;
}

DISTRIBUTE_INLINE void Module::summarize(std::string& lines, const std::string& indent,
                                         std::optional<int64_t> batch_size) const {
  batch_size = parts_batch_size(batch_size);
  for (const auto& [name, part] : children_) {
    lines += nn_internal::summary_line(indent + part->name(), nn_internal::class_of(*part),
                                       part->output_shape(), batch_size, part->count_params()) +
             "\n";
    part->summarize(lines, indent + "  ", batch_size);
  }
}

DISTRIBUTE_INLINE std::string Module::summary() const {
  std::string lines;
  summarize(lines, "", {});
  return nn_internal::summary_table(*this, lines);
}

}  // namespace distribute::nn
