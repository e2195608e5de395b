#pragma once
/// Environments with only a part of the variables that a launcher or a platform sets.

#include <distribute/cluster/environment.hpp>

#include <string>

namespace distribute::cluster_internal {

/// What the variables say about a job although no resolver finds its environment whole: what is
/// set, what is missing, and what to do. "" when nothing speaks of a job, or it has one task.
/// Throws  InvalidArgumentError for a variable that must be a number and is not.
std::string partial_environment(const Environment& variables);

}  // namespace distribute::cluster_internal
