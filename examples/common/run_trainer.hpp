#pragma once
/// A whole run of an example: strategy, training, test, report.

#include "training.hpp"

#include <functional>

namespace examples {

/// Gives the exit status; errors become one line.
int run_trainer(const TrainerOptions& options, const MakeTask& make_task);

/// Calls `run` and gives its exit status, or that of its error, which becomes one line.
int run_reporting(const std::function<int()>& run);

}  // namespace examples
