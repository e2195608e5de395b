#pragma once
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/saving/detail/assign_weights.hpp>

#include <algorithm>

namespace distribute::saving_internal {

DISTRIBUTE_INLINE void WeightAssignment::take(const FoundWeight& found) {
  const Variable& variable = found.variable;
  const std::string name = train::saved_name(variable);
  if (found.key.empty())
    return miss(variable, str_cat("there is nothing for variable '", name, "'"));
  const bool floats = is_floating(found.dtype) && is_floating(variable.dtype());
  if (found.shape != variable.shape() || (found.dtype != variable.dtype() && !floats)) {
    if (!options_.skip_mismatch)
      throw InvalidArgumentError(str_cat(file_, ": '", found.key, "' is ", to_string(found.shape),
                                         " ", name_of(found.dtype), ", variable '", name, "' is ",
                                         to_string(variable.shape()), " ",
                                         name_of(variable.dtype())));
    return result_.mismatched.push_back(name);
  }
  const Tensor value = found.read();
  values_.emplace_back(variable,
                       found.dtype == variable.dtype() ? value : cast(value, variable.dtype()));
  result_.loaded.push_back(name);
}

DISTRIBUTE_INLINE void WeightAssignment::miss(const Variable& variable, const std::string& reason) {
  if (!options_.by_name && !options_.skip_mismatch)
    throw NotFoundError(str_cat(file_, ": ", reason));
  result_.missing.push_back(train::saved_name(variable));
}

DISTRIBUTE_INLINE void WeightAssignment::refuse(const std::vector<Variable>& variables,
                                                const std::string& reason) {
  if (!options_.skip_mismatch) throw InvalidArgumentError(str_cat(file_, ": ", reason));
  for (const Variable& variable : variables)
    result_.mismatched.push_back(train::saved_name(variable));
}

DISTRIBUTE_INLINE bool WeightAssignment::has(const Variable& variable) const {
  return std::any_of(values_.begin(), values_.end(),
                     [&](const auto& entry) { return entry.first == variable; });
}

DISTRIBUTE_INLINE void WeightAssignment::clear(const Variable& variable) {
  values_.emplace_back(variable, zeros(variable.shape(), variable.dtype()));
}

DISTRIBUTE_INLINE train::LoadedWeights WeightAssignment::assign() {
  if (!options_.dry_run)
    for (const auto& [variable, value] : values_) train::restore_value(variable, value);
  return std::move(result_);
}

}  // namespace distribute::saving_internal
