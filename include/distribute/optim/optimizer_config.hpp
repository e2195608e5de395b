#pragma once
/// The configuration of an optimizer: named numbers, switches and texts.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace distribute::optim {

/// An optimizer within another one, as serialize() writes it.
struct OptimizerText {
  std::string json;
  bool operator==(const OptimizerText&) const = default;
};

/// A number, a switch, a text or an optimizer; an empty value stands for Python's None.
/// Source  tf.keras.optimizers.Optimizer.get_config
class OptimizerConfig {
 public:
  using Value = std::variant<std::monostate, bool, double, std::string, OptimizerText>;

  /// All values by name. set() adds a value; set_optional() does so only when there is one.
  const std::map<std::string, Value>& values() const { return values_; }
  void set(const std::string& name, Value value);
  void set_optional(const std::string& name, std::optional<double> value);
  /// Sets `out` to the value of this name, or to nothing when that value is empty. `out` stays
  /// unchanged when there is no such value.
  /// Throws  InvalidArgumentError for a value of another kind.
  void get(const std::string& name, double& out) const;
  void get(const std::string& name, bool& out) const;
  void get(const std::string& name, std::string& out) const;
  void get(const std::string& name, OptimizerText& out) const;
  void get(const std::string& name, std::optional<double>& out) const;
  void get(const std::string& name, std::optional<int64_t>& out) const;
  /// Names of the values that get() was not asked for, without empty values.
  std::vector<std::string> unread() const;

 private:
  std::map<std::string, Value> values_;
  mutable std::set<std::string> read_;  // names that get() was asked for
};

}  // namespace distribute::optim
