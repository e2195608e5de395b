#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/untrusted_text.hpp>
#include <distribute/cluster/environment.hpp>
#include <distribute/io/file_system.hpp>

#include <cstdlib>
#include <utility>

namespace distribute {

DISTRIBUTE_INLINE Environment::Environment(std::map<std::string, std::string> variables) {
  reader_ = [variables = std::move(variables)](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

DISTRIBUTE_INLINE std::optional<std::string> Environment::operator()(
    const std::string& name) const {
  if (reader_) return reader_(name);
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

DISTRIBUTE_INLINE std::optional<int> Environment::integer(const std::string& name) const {
  const std::optional<std::string> text = (*this)(name);
  if (!text) return std::nullopt;
  const std::optional<int> value = untrusted::parse_int(*text);
  if (value) return value;
  throw InvalidArgumentError(name + " must be a whole number, not " + untrusted::shown(*text));
}

DISTRIBUTE_INLINE std::string sagemaker_resource_config(const Environment& variables) {
  return io::join_path(variables("SAGEMAKER_BASE_DIR").value_or("/opt/ml"),
                       "input/config/resourceconfig.json");
}

DISTRIBUTE_INLINE std::string seen_of_sagemaker(const Environment& variables) {
  if (variables.has("SM_HOSTS") && variables.has("SM_CURRENT_HOST")) return "SM_HOSTS of SageMaker";
  if (variables.has("TRAINING_JOB_NAME") && variables.has("TRAINING_JOB_ARN"))
    return "a SageMaker training job";
  const auto found = io::local_file_system().exists(sagemaker_resource_config(variables));
  return found.ok() && *found ? "resourceconfig.json of SageMaker" : "";
}

}  // namespace distribute
