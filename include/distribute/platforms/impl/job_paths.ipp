#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/platforms/job_paths.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <sstream>
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

DISTRIBUTE_INLINE std::string hyperparameters_file(const Environment& variables) {
  return io::join_path(variables("SAGEMAKER_BASE_DIR").value_or("/opt/ml"),
                       "input/config/hyperparameters.json");
}

DISTRIBUTE_INLINE void read_hyperparameters(const Environment& variables, JobPaths& paths) {
  const std::string file = hyperparameters_file(variables);
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
  read_hyperparameters(variables, paths);
  take_model_dir(paths);
  return paths;
}

/// "50.0", "-3.000" without what follows the point; other texts as they are.
DISTRIBUTE_INLINE std::string without_zeros(const std::string& text) {
  const size_t point = text.find('.'), first = text.find_first_not_of("+-");
  const auto digits = [&](size_t from, size_t to, const char* known) {
    return from < to && text.find_first_not_of(known, from) >= to;
  };
  const bool whole = point != std::string::npos && first <= 1 &&
                     digits(first, point, "0123456789") && digits(point + 1, text.size(), "0");
  return whole ? text.substr(0, point) : text;
}

/// `dashes`: as SageMaker's toolkit writes hyperparameters, --learning-rate.
DISTRIBUTE_INLINE std::string job_argument(std::string word, bool dashes, bool is_trial) {
  const size_t value = word.starts_with("-") ? word.find('=') + 1 : 0;
  const std::string name = word.substr(0, value > 0 ? value - 1 : std::string::npos);
  if (name == "--job-dir" || (dashes && name.starts_with("--")))
    std::replace(word.begin() + 2, word.begin() + long(name.size()), '-', '_');
  return is_trial ? word.substr(0, value) + without_zeros(word.substr(value)) : word;
}

/// Takes "-x NAME=VALUE" and "--NCCL_DEBUG VALUE" or "--NCCL_DEBUG=VALUE"; the rest is mpirun's.
DISTRIBUTE_INLINE void read_mpi_options(const std::string& text, SageMakerProcesses& processes) {
  std::istringstream words(text);
  std::string word, value;
  while (words >> word) {
    const std::string debug = "--NCCL_DEBUG";
    if (word == "-x" && words >> value) {
      const size_t equals = value.find('=');  // without: a variable that every task has anyway
      if (equals != std::string::npos)
        processes.environment[value.substr(0, equals)] = value.substr(equals + 1);
    } else if (word == debug && words >> value) {
      processes.environment["NCCL_DEBUG"] = value;
    } else if (word.starts_with(debug + "=")) {
      processes.environment["NCCL_DEBUG"] = word.substr(debug.size() + 1);
    } else {
      processes.left_out += (processes.left_out.empty() ? "" : " ") + word;
    }
  }
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE std::vector<std::string> job_arguments(int argc, const char* const* argv,
                                                         const Environment& variables) {
  using namespace cluster_internal;
  const JobPaths paths = read_job_paths(variables);
  std::vector<std::string> words;
  for (const auto& [name, value] : paths.hyperparameters) {
    std::string flag = name;
    std::replace(flag.begin(), flag.end(), '-', '_');
    words.push_back("--" + flag + "=" + value);
  }
  const bool sagemaker = paths.service == "SageMaker";
  const bool starts_container = sagemaker && argc > 1 && std::string(argv[1]) == "train";
  const bool is_trial = variables.has("CLOUD_ML_TRIAL_ID");
  for (int i = starts_container ? 2 : 1; i < argc; ++i)
    words.push_back(job_argument(argv[i], sagemaker, is_trial));
  return words;
}

/// The command lines that programs were given, which live as long as the process.
struct JobArguments {
  struct Line {
    std::vector<std::string> words;
    std::vector<char*> pointers;
  };
  std::deque<Line> lines;
};

DISTRIBUTE_INLINE void take_job_arguments(int& argc, char**& argv, const Environment& variables) {
  auto& line = in_process<JobArguments>().lines.emplace_back();
  line.words = job_arguments(argc, argv, variables);
  line.pointers = {argv[0]};
  for (std::string& word : line.words) line.pointers.push_back(word.data());
  argc = int(line.pointers.size());
  line.pointers.push_back(nullptr);
  argv = line.pointers.data();
}

DISTRIBUTE_INLINE void write_job_failure(const std::string& reason, const Environment& variables) {
  try {
    const std::string path = read_job_paths(variables).failure;
    if (path.empty()) return;
    if (const auto file = io::local_file_system().create(path); file.ok())
      (*file)->append(reason.substr(0, 1024) + '\n').IgnoreError();
  } catch (const Error&) {  // the first error says more
  }
}

DISTRIBUTE_INLINE SageMakerProcesses read_sagemaker_processes(const Environment& variables) {
  using namespace cluster_internal;
  SageMakerProcesses processes;
  if (!variables.has("SM_HOSTS") && seen_of_sagemaker(variables).empty()) return processes;
  std::map<std::string, std::string> mpi;
  for (const char* variable : {"SM_HPS", "SM_FRAMEWORK_PARAMS"}) {
    const auto object = toolkit_object(variables, variable, hyperparameters_file(variables));
    for (const auto& [name, value] : object.members)
      if (name.starts_with("sagemaker_mpi_"))
        mpi[name.substr(14)] = hyperparameter_text(value, "hyperparameter " + name);
  }
  const std::string count = mpi["num_of_processes_per_host"];
  if (mpi["enabled"] != "true" && count.empty()) return processes;
  const bool digits = count.size() < 5 && count.find_first_not_of("0123456789") > count.size();
  if (!digits || (!count.empty() && std::atoi(count.c_str()) < 1))
    throw InvalidArgumentError(
        "hyperparameter sagemaker_mpi_num_of_processes_per_host must be a number from 1 to 9999, "
        "not " +
        untrusted::shown(count));
  processes.per_host = std::atoi(count.c_str());
  read_mpi_options(mpi["custom_mpi_options"], processes);
  return processes;
}

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
