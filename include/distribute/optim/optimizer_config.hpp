#pragma once
/// The configuration of an optimizer: named numbers, switches and texts.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

namespace distribute::optim {

/// A value; an empty one stands for Python's None.
/// Source  tf.keras.optimizers.Optimizer.get_config
class OptimizerConfig {
 public:
  using Value = std::variant<std::monostate, bool, double, std::string>;

  /// All values by name; set() adds one, set_optional() only where there is one.
  const std::map<std::string, Value>& values() const { return values_; }
  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  template <typename T>
  void set_optional(const std::string& name, const std::optional<T>& value) {
    values_[name] = value ? Value(double(*value)) : Value();
  }
  /// Leaves `out` alone when there is no value of this name.
  /// Throws  InvalidArgumentError for a value of another kind.
  void get(const std::string& name, double& out) const { read(name, out); }
  void get(const std::string& name, bool& out) const { read(name, out); }
  void get(const std::string& name, std::string& out) const { read(name, out); }
  template <typename T>
  void get(const std::string& name, std::optional<T>& out) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return;
    if (std::holds_alternative<std::monostate>(found->second)) return out.reset();
    double value = 0;
    read(name, value);
    out = T(value);
  }

 private:
  template <typename T>
  void read(const std::string& name, T& out) const {
    const auto found = values_.find(name);
    if (found == values_.end()) return;
    const T* value = std::get_if<T>(&found->second);
    if (!value) throw InvalidArgumentError("optimizer: '" + name + "' has a value of another kind");
    out = *value;
  }

  std::map<std::string, Value> values_;
};

}  // namespace distribute::optim
