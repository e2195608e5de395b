#pragma once
/// Options that must be equal on all tasks of a job.

#include <distribute/base/config.hpp>

#include <map>
#include <string>

namespace distribute {

/// Name and value of each option, as errors show them.
using AgreedOptions = std::map<std::string, std::string>;

/// A task and the options_text() that it was started with.
struct OptionsOfTask {
  std::string task;  // "worker 1", "the chief"
  std::string options;
};

/// Formats one line "name=value" for each, in the order of the names, for sending and comparing.
std::string options_text(const AgreedOptions& options);

/// Returns JSON that also holds the library's version, which must be equal too; for
/// ClusterRuntime::agree.
std::string agreed_json(const AgreedOptions& options);

/// Compares the options of two tasks; `tasks` is what the error calls them, "tasks" or "ranks".
/// Throws  FailedPreconditionError with the first option in which the two differ: "the tasks were
///          started with different flags: worker 1 has steps=7, the chief steps=5".
void check_same_options(const char* tasks, const OptionsOfTask& one, const OptionsOfTask& other);

}  // namespace distribute
