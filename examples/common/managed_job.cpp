#include "managed_job.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/platforms/job_paths.hpp>
#include <distribute/train/run_report.hpp>

#include <algorithm>
#include <cstdlib>

namespace dist = distribute;

namespace examples {

namespace {

dist::JobPaths job_paths(const std::string& job_dir = "") {
  try {
    return dist::read_job_paths({}, job_dir);
  } catch (const dist::Error& error) {
    std::exit(usage_error(error.what()));
  }
}

/// Ends the process where a hyperparameter is no flag.
void check_hyperparameters(const std::vector<distribute_tools::CommandFlag>& flags) {
  for (const auto& [name, value] : job_paths().hyperparameters) {
    std::string flag = name;
    std::replace(flag.begin(), flag.end(), '-', '_');
    if (std::any_of(flags.begin(), flags.end(), [&](auto& known) { return known.name == flag; }))
      continue;
    const std::string message = "hyperparameter '" + name + "': there is no flag --" + flag;
    dist::write_job_failure(message);
    std::exit(usage_error(message));
  }
}

}  // namespace

std::vector<std::string> managed_arguments(
    int argc, char** argv, const std::vector<distribute_tools::CommandFlag>& flags) {
  check_hyperparameters(flags);
  return dist::job_arguments(argc, argv);
}

void apply_job_paths(TrainerOptions& options, const std::string& job_dir) {
  const dist::JobPaths paths = job_paths(job_dir);
  if (!given("checkpoint_dir")) options.checkpoint_dir = paths.checkpoints;
  if (!given("logdir")) options.logdir = paths.logs;
  if (!given("data_dir")) options.data_dir = paths.training_data();
  if (paths.model.empty()) return;
  if (!given("final_checkpoint") && paths.service == "SageMaker")
    options.final_checkpoint = dist::io::join_path(paths.model, "weights");
  // Who names other files in that directory gets these alone.
  using dist::train::lies_in;
  const bool taken =
      lies_in(options.final_checkpoint, paths.model) || lies_in(options.export_onnx, paths.model);
  if (!given("export_dir") && paths.service != "SageMaker" && !taken)
    options.export_dir = paths.model;
}

void make_parent(const std::string& path) {
  const std::string directory = dist::io::directory_of(path);
  if (directory.empty() || path.find("://") != std::string::npos) return;
  dist::throw_if_error(dist::io::local_file_system().make_dirs(directory));
}

}  // namespace examples
