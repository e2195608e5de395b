#pragma once
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/io/file_system.hpp>

namespace distribute {

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
