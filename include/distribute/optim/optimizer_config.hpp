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

/// A value; an empty one stands for Python's None.
/// Source  tf.keras.optimizers.Optimizer.get_config
class OptimizerConfig {
 public:
  using Value = std::variant<std::monostate, bool, double, std::string, OptimizerText>;

  /// All values by name; set() adds one, set_optional() only where there is one.
  const std::map<std::string, Value>& values() const { return values_; }
  void set(const std::string& name, Value value);
  void set_optional(const std::string& name, std::optional<double> value);
  /// Leaves `out` alone when there is no value of this name; none where the value is empty.
  /// Throws  InvalidArgumentError for a value of another kind.
  void get(const std::string& name, double& out) const;
  void get(const std::string& name, bool& out) const;
  void get(const std::string& name, std::string& out) const;
  void get(const std::string& name, OptimizerText& out) const;
  void get(const std::string& name, std::optional<double>& out) const;
  void get(const std::string& name, std::optional<int64_t>& out) const;
  /// Names of values that get() was not asked for; empty values, which ask for nothing, do not
  /// count.
  std::vector<std::string> unread() const;

 private:
  std::map<std::string, Value> values_;
  mutable std::set<std::string> read_;  // names that get() was asked for
};

}  // namespace distribute::optim
