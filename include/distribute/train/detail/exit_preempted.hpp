#pragma once
/// Ends a preempted program.

#include <distribute/base/config.hpp>

#include <string>

namespace distribute::train_internal {

/// Ends the process with kExitPreempted, and without destructors, since threads still run.
[[noreturn]] void exit_preempted();

/// Returns the line of a program that is told to go and has nowhere to save to.
std::string text_of_leaving();

}  // namespace distribute::train_internal
