#pragma once
/// Where resolvers read environment variables: of the process, or of a map in tests.

#include <distribute/base/config.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace distribute {

/// From a variable's name to its value, nothing when it is not set. Cheap to copy. The default
/// reads the process's environment anew at every call; do not call setenv on another thread
/// meanwhile.
class Environment {
 public:
  using Reader = std::function<std::optional<std::string>(const std::string&)>;

  Environment() = default;
  Environment(Reader reader) : reader_(std::move(reader)) {}  // NOLINT: implicit
  Environment(std::map<std::string, std::string> variables);  // NOLINT: implicit

  std::optional<std::string> operator()(const std::string& name) const;

  /// The variable as a number.
  /// Throws  InvalidArgumentError that names the variable when it is set to something else.
  std::optional<int> integer(const std::string& name) const;
  bool has(const std::string& name) const { return (*this)(name).has_value(); }

 private:
  Reader reader_;  // empty: getenv
};

}  // namespace distribute

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/cluster/impl/environment.ipp>
#endif
