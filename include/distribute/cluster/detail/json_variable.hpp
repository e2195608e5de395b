#pragma once
/// An environment variable that holds a JSON object, parsed once.

#include <distribute/base/environment.hpp>
#include <distribute/base/json.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace distribute::cluster_internal {

/// Number of times that this process has parsed a JSON variable, for tests.
struct JsonVariableParses {
  std::atomic<int64_t> count{0};
};

/// Reads the variable at every call, and parses it when its text has changed. Thread-safe.
class JsonVariable {
 public:
  JsonVariable(Environment variables, std::string name)
      : variables_(std::move(variables)), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  /// Returns the object; an empty one when the variable is not set.
  /// Throws  InvalidArgumentError, with the name, for text that is no JSON object.
  std::shared_ptr<const untrusted::JsonValue> object();

 private:
  const Environment variables_;
  const std::string name_;
  std::mutex mutex_;  // guards the members below
  std::string text_;
  std::shared_ptr<const untrusted::JsonValue> object_;  // of text_; null before the first answer
};

}  // namespace distribute::cluster_internal
