#pragma once
/// Finds where a managed training service expects a job's files: SageMaker, Vertex AI, or
/// --job-dir.

#include <distribute/base/environment.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace distribute {

/// Directories for the job's files, local or gs://, s3://; "" for one that is not set. It can be
/// copied.
struct JobPaths {
  std::string service;                          // "SageMaker", "Vertex AI", "--job-dir", or ""
  std::string model;                            // the trained model
  std::string checkpoints;                      // kept over restarts
  std::string logs;                             // for TensorBoard
  std::string output;                           // other results
  std::string failure;                          // a file for the reason of a failure
  std::map<std::string, std::string> channels;  // input data by name
  /// Name and value of each hyperparameter, as for flags. `model_dir` is left out, as it is a
  /// directory above: the one of checkpoints if it is a URL, else the one of the model.
  std::map<std::string, std::string> hyperparameters;

  /// Gives the channel "training", "train", or the only channel; "" otherwise.
  std::string training_data() const;
};

/// Reads the paths of the service that runs the job. On SageMaker (SM_HOSTS, TRAINING_JOB_NAME with
/// TRAINING_JOB_ARN, or resourceconfig.json) they come from SM_MODEL_DIR, SM_OUTPUT_DATA_DIR,
/// SM_CHANNEL_* and SM_HPS if its toolkit has set these, else from the folders of /opt/ml
/// (SAGEMAKER_BASE_DIR). Checkpoints are used if /opt/ml/checkpoints exists; logs go to
/// /opt/ml/output/tensorboard if it exists, else below the output. On Vertex AI they come from
/// AIP_MODEL_DIR, AIP_CHECKPOINT_DIR and AIP_TENSORBOARD_LOG_DIR. `job_dir` (--job-dir of AI
/// Platform) gives job_dir/model, job_dir/checkpoints and job_dir/logs, and overrides AIP_*.
/// Throws  InvalidArgumentError that names variable or file for JSON that cannot be read.
/// Source  SageMaker "How training information is provided"; Vertex AI "custom job environment"
JobPaths read_job_paths(const Environment& variables = {}, const std::string& job_dir = "");

/// Returns the words of a command line, without the program's name, as parsers of flags take them.
/// Hyperparameters of SageMaker come first as --name=value, with `_` for `-`, so that given flags
/// win. The word "train", with which SageMaker starts containers, is left out. --learning-rate of
/// SageMaker's toolkit is --learning_rate, and --job-dir of AI Platform --job_dir. In a trial of
/// Vertex AI (CLOUD_ML_TRIAL_ID) a whole number such as 50.0 is 50: it sends DISCRETE parameters
/// so, and flags for whole numbers refuse them. Throws  InvalidArgumentError as read_job_paths().
std::vector<std::string> job_arguments(int argc, const char* const* argv,
                                       const Environment& variables = {});

/// Replaces the words of main() by its program's name and job_arguments(). They live as long as the
/// process. A program calls it before it parses its flags.
void take_job_arguments(int& argc, char**& argv, const Environment& variables = {});

/// Writes the first 1,024 bytes of the text to SageMaker's output/failure, which shows them as
/// FailureReason; does nothing elsewhere. run_main() does so with the error of a program that
/// includes <distribute/platforms.hpp>.
void write_job_failure(const std::string& reason, const Environment& variables = {});

struct SageMakerProcesses {  // what a job of SageMaker asks for on each of its hosts
  /// sagemaker_mpi_num_of_processes_per_host, which is processes_per_host of the SDK's
  /// distribution={"mpi": ...}; else 1; 0 where mpi is enabled without a number, for one process a
  /// GPU. The number counts without "enabled", too, where SageMaker's toolkit ignores it.
  int per_host = 1;
  /// -x NAME=VALUE of custom_mpi_options, and --NCCL_DEBUG
  std::map<std::string, std::string> environment;
  std::string left_out;  // the other options, which are mpirun's own
};

/// Reads the hyperparameters sagemaker_mpi_... of the SDK, as SageMaker's toolkit does.
/// Throws  InvalidArgumentError for a number that cannot be read.
/// Source  sagemaker_training/params.py, runner.py, mpi.py
SageMakerProcesses read_sagemaker_processes(const Environment& variables = {});

}  // namespace distribute
