#pragma once
#include <distribute/base/error.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/optim/detail/slot_table.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace distribute::optim {

namespace optim_internal {

DISTRIBUTE_INLINE Variable make_slot(const Variable& weight, const SlotSpec& spec) {
  const auto first_value = [weight, value = spec.initial_value] {
    return fill(weight.shape(), value, DType::Float32, weight.impl().component(0).device());
  };
  VariableOptions options = weight.impl().options();
  options.name = weight.name() + "/" + spec.name;
  options.trainable = false;
  options.shape = weight.shape();
  options.initial_number = spec.initial_value;
  options.colocate_with = weight.shared_impl();
  Variable created(Variable::Initializer(first_value), options);
  if (const auto& shard = weight.impl().save_slice_info())
    created.impl().set_save_slice_info(
        {shard->full_name + "/" + spec.name, shard->full_shape, shard->begin});
  return created;
}

}  // namespace optim_internal

struct SlotTable::Sets {
  struct Set {
    Variable original;
    std::vector<Variable> values;
  };
  std::mutex mutex;             // guards the rest
  std::map<uint64_t, Set> all;  // by id of the variable, so in order of creation
};

DISTRIBUTE_INLINE SlotTable::SlotTable() : sets_(new Sets()) {}
DISTRIBUTE_INLINE SlotTable::~SlotTable() = default;

DISTRIBUTE_INLINE bool SlotTable::find(std::vector<VariableUpdate>& updates) {
  const std::lock_guard lock(sets_->mutex);
  for (VariableUpdate& update : updates) {
    const auto found = sets_->all.find(update.variable.impl().id());
    if (found == sets_->all.end()) return false;
    update.slots = found->second.values;
  }
  return true;
}

DISTRIBUTE_INLINE void SlotTable::create(const std::vector<VariableUpdate>& updates,
                                         const std::vector<SlotSpec>& specs,
                                         const Created& created) {
  const std::lock_guard lock(sets_->mutex);
  for (const VariableUpdate& update : updates) {
    const Variable& weight = update.variable;
    if (sets_->all.contains(weight.impl().id())) continue;
    std::vector<Variable> values;
    for (const SlotSpec& spec : specs) {
      values.push_back(optim_internal::make_slot(weight, spec));
      created(spec.name, values.back(), weight);
    }
    sets_->all[weight.impl().id()] = {weight, std::move(values)};
  }
}

DISTRIBUTE_INLINE void SlotTable::exchange_with_last(const std::vector<Variable>& weights,
                                                     bool keep_weights) {
  const std::lock_guard lock(sets_->mutex);
  for (const Variable& variable : weights) {
    const auto found = sets_->all.find(variable.impl().id());
    if (found == sets_->all.end() && !keep_weights) continue;
    if (found == sets_->all.end())
      throw FailedPreconditionError(
          str_cat("there is no moving average of variable '", variable.name(), "'"));
    VariableImpl &weight = variable.impl(), &mean = found->second.values.back().impl();
    for (int i = 0; i < weight.num_components(); ++i) {
      const Tensor old = weight.component(i);
      weight.set_component(i, mean.component(i).renamed());
      if (keep_weights) mean.set_component(i, old.renamed());
    }
  }
}

namespace optim_internal {

DISTRIBUTE_INLINE std::set<uint64_t> ids_of(const std::vector<VariableUpdate>& updates) {
  std::set<uint64_t> ids;
  for (const VariableUpdate& update : updates) ids.insert(update.variable.impl().id());
  return ids;
}

}  // namespace optim_internal

DISTRIBUTE_INLINE bool SlotTable::has_others(const std::vector<VariableUpdate>& updates) const {
  const std::lock_guard lock(sets_->mutex);
  return sets_->all.size() > optim_internal::ids_of(updates).size();
}

DISTRIBUTE_INLINE void SlotTable::average_others(const std::vector<VariableUpdate>& updates,
                                                 float momentum) {
  const std::lock_guard lock(sets_->mutex);
  const std::set<uint64_t> updated = optim_internal::ids_of(updates);
  for (const auto& [id, set] : sets_->all) {
    if (updated.contains(id)) continue;
    VariableImpl &weight = set.original.impl(), &mean = set.values.back().impl();
    for (int i = 0; i < mean.num_components(); ++i)
      mean.set_component(i, (mean.component(i).renamed() * momentum +
                             weight.component(i).renamed() * (1.0f - momentum)));
  }
}

DISTRIBUTE_INLINE std::vector<Variable> SlotTable::weights() const {
  const std::lock_guard lock(sets_->mutex);
  std::vector<Variable> weights;
  for (const auto& [id, set] : sets_->all) weights.push_back(set.original);
  return weights;
}

DISTRIBUTE_INLINE std::vector<Trackable::SlotVariable> SlotTable::all(
    const std::vector<SlotSpec>& specs) const {
  std::vector<Trackable::SlotVariable> all;
  for (const auto& [id, set] : sets_->all)
    for (size_t s = 0; s < set.values.size(); ++s)
      all.push_back({set.original, specs[s].name, set.values[s]});
  return all;
}

}  // namespace distribute::optim
