#pragma once
#include <distribute/base/error.hpp>
#include <distribute/optim/detail/schedule_text.hpp>
#include <distribute/optim/optimizer_config.hpp>

#include <utility>

namespace distribute::optim {

namespace optim_internal {

/// Gives the value of that name; empty when there is no such value.
template <typename T>
std::optional<T> find_value(const OptimizerConfig& config, const std::string& name) {
  const auto found = config.values().find(name);
  if (found == config.values().end()) return std::nullopt;
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  throw InvalidArgumentError("optimizer: '" + name + "' has a value of another kind");
}

template <typename T>
void read_value(const OptimizerConfig& config, const std::string& name, T& out) {
  if (auto value = find_value<T>(config, name)) out = *std::move(value);
}

/// Accepts an empty value, too.
template <typename T>
void read_optional(const OptimizerConfig& config, const std::string& name, std::optional<T>& out) {
  const auto found = config.values().find(name);
  if (found != config.values().end() && std::holds_alternative<std::monostate>(found->second))
    return out.reset();
  if (const auto value = find_value<double>(config, name)) out = T(*value);
}

}  // namespace optim_internal

DISTRIBUTE_INLINE void OptimizerConfig::set(const std::string& name, Value value) {
  values_[name] = std::move(value);
}

DISTRIBUTE_INLINE void OptimizerConfig::set_optional(const std::string& name,
                                                     std::optional<double> value) {
  set(name, value ? Value(*value) : Value());
}

DISTRIBUTE_INLINE void OptimizerConfig::get(const std::string& name, double& out) const {
  read_.insert(name);
  optim_internal::read_value(*this, name, out);
}

DISTRIBUTE_INLINE void OptimizerConfig::get(const std::string& name, bool& out) const {
  read_.insert(name);
  optim_internal::read_value(*this, name, out);
}

DISTRIBUTE_INLINE void OptimizerConfig::get(const std::string& name, std::string& out) const {
  read_.insert(name);
  optim_internal::read_value(*this, name, out);
}

DISTRIBUTE_INLINE void OptimizerConfig::get(const std::string& name, OptimizerText& out) const {
  read_.insert(name);
  optim_internal::read_value(*this, name, out);
}

DISTRIBUTE_INLINE void OptimizerConfig::get(const std::string& name, LearningRate& out) const {
  read_.insert(name);
  const auto found = values_.find(name);
  if (found == values_.end()) return;
  if (const auto* text = std::get_if<OptimizerText>(&found->second))
    out = optim_internal::schedule_of(text->json);
  else
    out = optim_internal::find_value<double>(*this, name).value();
}

DISTRIBUTE_INLINE void OptimizerConfig::get(const std::string& name,
                                            std::optional<double>& out) const {
  read_.insert(name);
  optim_internal::read_optional(*this, name, out);
}

DISTRIBUTE_INLINE void OptimizerConfig::get(const std::string& name,
                                            std::optional<int64_t>& out) const {
  read_.insert(name);
  optim_internal::read_optional(*this, name, out);
}

DISTRIBUTE_INLINE std::vector<std::string> OptimizerConfig::unread() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : values_)
    if (!std::holds_alternative<std::monostate>(value) && !read_.contains(name))
      names.push_back(name);
  return names;
}

}  // namespace distribute::optim
