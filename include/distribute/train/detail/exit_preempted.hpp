#pragma once
/// Ends a preempted program that has saved its state.

#include <distribute/base/config.hpp>

namespace distribute::train_internal {

/// Ends the process with kExitPreempted, and without destructors, since threads still run.
[[noreturn]] void exit_preempted();

}  // namespace distribute::train_internal
