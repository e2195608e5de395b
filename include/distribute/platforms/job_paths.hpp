#pragma once
/// Where a managed training service wants a job's files: SageMaker, Vertex AI, or --job-dir.

#include <distribute/cluster/environment.hpp>

#include <map>
#include <optional>
#include <string>

namespace distribute {

/// Directories, each "" where it is not set; local, or gs://, s3://. A value.
struct JobPaths {
  std::string service;                          // "SageMaker", "Vertex AI", "--job-dir", or ""
  std::string model;                            // the trained model
  std::string checkpoints;                      // kept over restarts
  std::string logs;                             // for TensorBoard
  std::string output;                           // whatever else is worth keeping
  std::string failure;                          // a file: why the job has failed
  std::map<std::string, std::string> channels;  // input data by name
  /// Name and value, as for flags; without `model_dir`, which is a directory above: of checkpoints
  /// where it is a URL, else of the model.
  std::map<std::string, std::string> hyperparameters;

  /// The channel "training", "train", or the only one; "" otherwise.
  std::string training_data() const;
};

/// SageMaker (SM_HOSTS, TRAINING_JOB_NAME with TRAINING_JOB_ARN, or resourceconfig.json):
/// SM_MODEL_DIR,
/// SM_OUTPUT_DATA_DIR, SM_CHANNEL_*, SM_HPS where its toolkit has set them, else the folders of
/// /opt/ml (SAGEMAKER_BASE_DIR); checkpoints where /opt/ml/checkpoints is there, logs in
/// /opt/ml/output/tensorboard where that is there, else below output. Vertex AI:
/// AIP_MODEL_DIR, AIP_CHECKPOINT_DIR, AIP_TENSORBOARD_LOG_DIR. `job_dir` (--job-dir of AI
/// Platform) gives job_dir/model, job_dir/checkpoints and job_dir/logs, and wins over AIP_*.
/// Throws  InvalidArgumentError that names variable or file for JSON that cannot be read.
/// Source  SageMaker "How training information is provided"; Vertex AI "custom job environment"
JobPaths read_job_paths(const Environment& variables = {}, const std::string& job_dir = "");

}  // namespace distribute
