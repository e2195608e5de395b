#include "managed_job.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/platforms/job_paths.hpp>
#include <distribute/train/run_report.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>

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

/// "batch-size" is --batch_size.
std::string flag_name(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string hyperparameter_flag(const std::string& name, const std::string& value,
                                const std::vector<distribute_tools::CommandFlag>& flags) {
  const std::string flag = flag_name(name);
  if (std::none_of(flags.begin(), flags.end(), [&](auto& known) { return known.name == flag; })) {
    const std::string message = "hyperparameter '" + name + "': there is no flag --" + flag;
    write_failure(message);
    std::exit(usage_error(message));
  }
  return "--" + flag + "=" + value;
}

}  // namespace

std::vector<std::string> managed_arguments(
    int argc, char** argv, const std::vector<distribute_tools::CommandFlag>& flags) {
  const dist::JobPaths paths = job_paths();
  std::vector<std::string> arguments;
  for (const auto& [name, value] : paths.hyperparameters)
    arguments.push_back(hyperparameter_flag(name, value, flags));
  const bool starts_container =
      paths.service == "SageMaker" && argc > 1 && std::string(argv[1]) == "train";
  for (int i = starts_container ? 2 : 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.rfind("--job-dir", 0) == 0) argument[5] = '_';
    arguments.push_back(argument);
  }
  return arguments;
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

void write_failure(const std::string& message) {
  try {
    const std::string path = dist::read_job_paths().failure;
    if (!path.empty()) std::ofstream(path, std::ios::trunc) << message.substr(0, 1024) << '\n';
  } catch (const dist::Error&) {  // the first error says more
  }
}

}  // namespace examples
