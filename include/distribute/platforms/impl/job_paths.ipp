#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/untrusted_json.hpp>
#include <distribute/base/untrusted_text.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/platforms/job_paths.hpp>

#include <cctype>
#include <utility>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE bool is_local_directory(const std::string& path) {
  const auto found = io::local_file_system().is_directory(path);
  return found.ok() && *found;
}

/// Gives the object in variable `name`, else in the file; an empty one if both are missing.
DISTRIBUTE_INLINE untrusted::JsonValue toolkit_object(const Environment& variables,
                                                      const std::string& name,
                                                      const std::string& file) {
  untrusted::JsonValue root;
  root.kind = untrusted::JsonValue::Kind::Object;
  if (const auto text = variables(name); text && !text->empty())
    root = untrusted::parse_json(*text, name);
  else if (const auto bytes = io::read_file(file); bytes.ok())
    root = untrusted::parse_json(*bytes, file);
  return untrusted::object_of(root, name + " or " + file);
}

/// Gives a value as text. The platform's file has every value as a JSON text inside of a string
/// ("0.1", "\"adam\""); the toolkit's variable has the values themselves.
DISTRIBUTE_INLINE std::string hyperparameter_text(const untrusted::JsonValue& value,
                                                  const std::string& place) {
  if (value.is_object() || value.is_array() || value.is_null())
    throw InvalidArgumentError(place + " must be a number, a text or a switch, not " +
                               value.describe());
  const std::string& text = value.text;
  if (!value.is_string() || text.size() < 2 || text.front() != '"') return text;
  const untrusted::JsonValue inner = untrusted::parse_json(text, place);
  return untrusted::string_of(inner, place);
}

DISTRIBUTE_INLINE void read_hyperparameters(const Environment& variables, const std::string& file,
                                            JobPaths& paths) {
  for (const auto& [name, value] : toolkit_object(variables, "SM_HPS", file).members)
    if (!name.starts_with("sagemaker_") && name != "_tuning_objective_metric")
      paths.hyperparameters[name] =
          hyperparameter_text(value, "hyperparameter " + untrusted::shown(name));
}

DISTRIBUTE_INLINE void read_channels(const Environment& variables, const std::string& base,
                                     JobPaths& paths) {
  const std::string file = io::join_path(base, "input/config/inputdataconfig.json");
  for (const auto& [name, config] :
       toolkit_object(variables, "SM_INPUT_DATA_CONFIG", file).members) {
    std::string variable = "SM_CHANNEL_" + name;
    for (char& c : variable) c = char(std::toupper(static_cast<unsigned char>(c)));
    paths.channels[name] = variables(variable).value_or(io::join_path(base, "input/data/" + name));
  }
}

/// Uses `model_dir`, which the SDK's TensorFlow estimator adds: on S3 it is the directory of
/// checkpoints, else that of the model.
DISTRIBUTE_INLINE void take_model_dir(JobPaths& paths) {
  const auto found = paths.hyperparameters.find("model_dir");
  if (found == paths.hyperparameters.end()) return;
  const std::string directory = found->second;
  paths.hyperparameters.erase(found);
  if (directory.empty() || directory == "null" || directory == "false") return;
  if (directory.find("://") == std::string::npos)
    paths.model = directory;
  else if (paths.checkpoints.empty())
    paths.checkpoints = directory;
}

DISTRIBUTE_INLINE JobPaths sagemaker_paths(const Environment& variables) {
  const std::string base = variables("SAGEMAKER_BASE_DIR").value_or("/opt/ml");
  JobPaths paths;
  paths.service = "SageMaker";
  paths.model = variables("SM_MODEL_DIR").value_or(io::join_path(base, "model"));
  paths.output = variables("SM_OUTPUT_DATA_DIR").value_or(io::join_path(base, "output/data"));
  paths.failure = io::join_path(base, "output/failure");
  const std::string checkpoints = io::join_path(base, "checkpoints");
  if (is_local_directory(checkpoints)) paths.checkpoints = checkpoints;
  const std::string tensorboard = io::join_path(base, "output/tensorboard");
  paths.logs = is_local_directory(tensorboard) ? tensorboard : io::join_path(paths.output, "logs");
  read_channels(variables, base, paths);
  read_hyperparameters(variables, io::join_path(base, "input/config/hyperparameters.json"), paths);
  take_model_dir(paths);
  return paths;
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE std::string JobPaths::training_data() const {
  for (const char* name : {"training", "train"})
    if (const auto found = channels.find(name); found != channels.end()) return found->second;
  return channels.size() == 1 ? channels.begin()->second : std::string();
}

DISTRIBUTE_INLINE JobPaths read_job_paths(const Environment& variables,
                                          const std::string& job_dir) {
  const bool sagemaker = variables.has("SM_HOSTS") || !seen_of_sagemaker(variables).empty();
  JobPaths paths;
  if (sagemaker) paths = cluster_internal::sagemaker_paths(variables);
  const std::pair<const char*, std::string*> vertex[] = {{"AIP_MODEL_DIR", &paths.model},
                                                         {"AIP_CHECKPOINT_DIR", &paths.checkpoints},
                                                         {"AIP_TENSORBOARD_LOG_DIR", &paths.logs}};
  for (const auto& [name, path] : vertex)
    if (const auto value = variables(name); value && !value->empty()) {
      *path = *value;
      paths.service = "Vertex AI";
    }
  if (job_dir.empty()) return paths;
  paths.service = "--job-dir";
  paths.model = io::join_path(job_dir, "model");
  paths.checkpoints = io::join_path(job_dir, "checkpoints");
  paths.logs = io::join_path(job_dir, "logs");
  return paths;
}

}  // namespace distribute
