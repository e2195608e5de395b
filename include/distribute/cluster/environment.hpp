#pragma once
/// Environment variables as resolvers read them: of the process, or of a map in tests.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/untrusted_text.hpp>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace distribute {

/// Maps a variable's name to its value, nullopt when it is not set. Cheap to copy. The default
/// reads the process's environment at every call; do not call setenv on another thread meanwhile.
class Environment {
 public:
  using Reader = std::function<std::optional<std::string>(const std::string&)>;

  Environment() = default;
  Environment(Reader reader) : reader_(std::move(reader)) {}  // NOLINT: implicit
  Environment(std::map<std::string, std::string> variables);  // NOLINT: implicit

  std::optional<std::string> operator()(const std::string& name) const;

  /// Returns the variable as a number.
  /// Throws  InvalidArgumentError that names the variable when it is set to something else.
  std::optional<int> integer(const std::string& name) const;
  bool has(const std::string& name) const { return (*this)(name).has_value(); }

 private:
  Reader reader_;  // empty: getenv
};

/// Path of the file in which SageMaker describes the hosts of a job.
std::string sagemaker_resource_config(const Environment& variables);
/// Returns what shows that this is a training job of SageMaker, or of its SDK's local mode, which
/// sets TRAINING_JOB_NAME alone; "" elsewhere.
std::string seen_of_sagemaker(const Environment& variables);

namespace cluster_internal {

/// Sets `value` to the variable of the process; leaves it alone when the variable is not set.
/// Throws  InvalidArgumentError that names the variable, its value and what is allowed.
template <typename Number>
void read_limit(const char* name, Number least, Number most, Number& value) {
  const char* text = std::getenv(name);
  if (!text || !*text) return;
  Number number{};
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, number);
  if (error != std::errc() || stop != end || !(number >= least && number <= most))
    throw InvalidArgumentError(
        str_cat(name, "=", untrusted::shown(text), ": wanted a number from ", least, " to ", most));
  value = number;
}

inline void read_seconds(const char* name, double& value) { read_limit(name, 0.001, 1e7, value); }

}  // namespace cluster_internal

}  // namespace distribute
