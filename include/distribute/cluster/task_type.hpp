#pragma once
/// The name of a task's job: chief, worker, ps, evaluator, or anything else.

#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace distribute {

/// A value around the job's name. Every name is allowed; code that needs a known one checks it.
/// Source  strings such as "worker" in tf.distribute.cluster_resolver
class TaskType {
 public:
  static constexpr std::string_view Chief = "chief";
  static constexpr std::string_view Worker = "worker";
  static constexpr std::string_view ParameterServer = "ps";
  static constexpr std::string_view Evaluator = "evaluator";
  static constexpr std::string_view Master = "master";  // of TensorFlow 1, in the place of a chief

  TaskType(std::string name) : name_(std::move(name)) {}  // NOLINT: implicit
  TaskType(std::string_view name) : name_(name) {}        // NOLINT: implicit
  TaskType(const char* name) : name_(name) {}             // NOLINT: implicit

  /// "worker", "ps", "chief", "evaluator", or another job's name.
  const std::string& name() const { return name_; }

  friend bool operator==(const TaskType& a, const TaskType& b) = default;
  friend auto operator<=>(const TaskType& a, const TaskType& b) = default;
  friend std::ostream& operator<<(std::ostream& out, const TaskType& type) {
    return out << type.name_;
  }

 private:
  std::string name_;
};

}  // namespace distribute
