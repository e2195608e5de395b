#pragma once
/// A whole run of an example: strategy, training, test, report.

#include "training.hpp"

namespace examples {

/// Gives the exit status; errors become one line.
int run_trainer(const TrainerOptions& options, const MakeTask& make_task);

}  // namespace examples
