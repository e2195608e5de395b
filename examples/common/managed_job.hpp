#pragma once
/// What a training service adds: hyperparameters as flags, folders, a file for the failure.

#include "options.hpp"

#include <string>
#include <vector>

namespace examples {

/// distribute::job_arguments. Ends the process with status 2 for a hyperparameter that is no flag.
std::vector<std::string> managed_arguments(int argc, char** argv,
                                           const std::vector<distribute_tools::CommandFlag>& flags);

/// Folders of the service in the place of flags that were not given: checkpoints, TensorBoard, the
/// training data, and the folder of the model: a SavedModel there for Vertex AI and --job-dir, the
/// trained weights (MODEL_DIR/weights) for SageMaker.
void apply_job_paths(TrainerOptions& options, const std::string& job_dir);

/// Makes the directory of a file, or of the files with a prefix, that is written at the end.
void make_parent(const std::string& path);

}  // namespace examples
