#pragma once
/// Recognizes environments that have only some of the variables of a launcher or a platform.

#include <distribute/base/environment.hpp>

#include <string>

namespace distribute::cluster_internal {

/// Describes variables that belong to a job although no resolver finds its environment complete:
/// the variables set, those missing, and a remedy. Returns "" when no variable belongs to a job, or
/// it has one task.
/// Throws  InvalidArgumentError for a variable that must be a number and is not.
std::string partial_environment(const Environment& variables);

}  // namespace distribute::cluster_internal
