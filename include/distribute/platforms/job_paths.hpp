#pragma once
/// Finds where a managed training service expects a job's files: SageMaker, Vertex AI, or
/// --job-dir.

#include <distribute/base/environment.hpp>

#include <map>
#include <optional>
#include <string>

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

}  // namespace distribute
