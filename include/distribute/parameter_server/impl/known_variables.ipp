#pragma once
#include <distribute/base/error.hpp>
#include <distribute/parameter_server/detail/known_variables.hpp>

#include <utility>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE void KnownVariable::check(const char* method, const Tensor& given) const {
  if (given && given.shape() == spec.shape && given.dtype() == spec.dtype) return;
  throw InvalidArgumentError(str_cat(
      method, ": variable '", spec.key, "' is ", name_of(spec.dtype), " ", to_string(spec.shape),
      ", got ", given ? str_cat(name_of(given.dtype()), " ", to_string(given.shape())) : "none"));
}

DISTRIBUTE_INLINE KnownVariable& KnownVariables::at(VariableId id) {
  if (id < 0 || id >= VariableId(variables_.size()))
    throw InvalidArgumentError(str_cat("parameter servers: there is no variable ", id, " here"));
  return variables_[size_t(id)];
}

DISTRIBUTE_INLINE std::optional<VariableId> KnownVariables::find(const std::string& key) const {
  const auto found = ids_.find(key);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

DISTRIBUTE_INLINE VariableId KnownVariables::add(KnownVariable variable) {
  const auto id = VariableId(variables_.size());
  ids_.emplace(variable.spec.key, id);
  variables_.push_back(std::move(variable));
  return id;
}

}  // namespace distribute::parameter_server
