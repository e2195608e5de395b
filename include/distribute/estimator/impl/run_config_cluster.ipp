#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/estimator/estimator.hpp>

namespace distribute::cluster_internal {

/// Gives the string member `key`, or "".
DISTRIBUTE_INLINE std::string run_config_text(const untrusted::JsonValue& root, const char* key) {
  const untrusted::JsonValue* value = root.find(key);
  if (!value || value->is_null()) return "";
  return untrusted::string_of(*value, std::string("TF_CONFIG: ") + key);
}

DISTRIBUTE_INLINE std::string run_config_model_dir(const untrusted::JsonValue& root,
                                                   const std::string& given) {
  const std::string in_config = run_config_text(root, "model_dir");
  if (root.find("model_dir") && in_config.empty())
    throw InvalidArgumentError("TF_CONFIG: model_dir should be non-empty");
  if (!in_config.empty() && !given.empty() && in_config != given)
    throw InvalidArgumentError("`model_dir` is set both in the options, " +
                               untrusted::shown(given) + ", and in TF_CONFIG, " +
                               untrusted::shown(in_config) + "; the two must be the same");
  return given.empty() ? in_config : given;
}

/// Checks that the cluster has one `chief` job of one task, and that the task is in it.
DISTRIBUTE_INLINE void check_run_config(const ClusterSpec& spec, const std::string& chief,
                                        const std::optional<TaskType>& type,
                                        std::optional<int> id) {
  if (!spec.has_job(chief))
    throw InvalidArgumentError("If \"cluster\" is set in TF_CONFIG, it must have one \"" + chief +
                               "\" node.");
  if (spec.num_tasks(chief) != 1)
    throw InvalidArgumentError("The \"cluster\" in TF_CONFIG must have only one \"" + chief +
                               "\" node.");
  if (!type || type->name().empty())
    throw InvalidArgumentError("If \"cluster\" is set in TF_CONFIG, task type must be set.");
  if (!id)
    throw InvalidArgumentError("If \"cluster\" is set in TF_CONFIG, task index must be set.");
  if (*id < 0)
    throw InvalidArgumentError(str_cat("Task index must be non-negative number, not ", *id));
  if (type == TaskType::Evaluator) return;
  if (!spec.has_job(type->name()))
    throw InvalidArgumentError(untrusted::shown(type->name()) +
                               " is not a valid task_type in the " +
                               "cluster_spec: " + spec.to_json().substr(0, 200));
  const auto indices = spec.task_indices(type->name());
  if (indices.empty() || *id > indices.back())
    throw InvalidArgumentError(str_cat(*id, " is not a valid task_id for task_type ",
                                       untrusted::shown(type->name()), ", which has ",
                                       indices.size(), " task(s)"));
}

DISTRIBUTE_INLINE int global_id(const ClusterSpec& spec, const std::string& chief,
                                const TaskType& type, int id) {
  std::vector<std::string> order = {chief};
  for (const std::string& job : spec.jobs())
    if (job != chief && job != TaskType::ParameterServer) order.push_back(job);
  if (spec.has_job("ps")) order.push_back("ps");
  int before = 0;
  for (const std::string& job : order) {
    if (type == job) break;
    const auto indices = spec.task_indices(job);
    before += indices.empty() ? 0 : indices.back() + 1;
  }
  return before + id;
}

DISTRIBUTE_INLINE void read_distributed(RunConfigCluster& config, const untrusted::JsonValue& root,
                                        const Environment& variables) {
  const ClusterSpec& spec = config.cluster_spec;
  const bool has_master = spec.has_job("master");
  const std::string chief = has_master ? "master" : "chief";
  const auto type = task_type_in(root, "TF_CONFIG");
  const auto id = task_id_in(root, "TF_CONFIG");
  if (has_master && spec.has_job("chief"))
    throw InvalidArgumentError(
        "If `master` node exists in `cluster`, job `chief` is not supported.");
  check_run_config(spec, chief, type, id);
  config.task_type = *type;
  config.task_id = *id;
  config.is_chief = type == chief;
  config.num_worker_replicas = 0;
  config.global_id_in_cluster.reset();
  if (type == TaskType::Evaluator) {
    if (has_master)
      throw InvalidArgumentError(
          "If `master` node exists in `cluster`, task_type `evaluator` is not supported.");
    config.cluster_spec = ClusterSpec();
    return;
  }
  config.num_ps_replicas = spec.has_job("ps") ? spec.num_tasks("ps") : 0;
  config.num_worker_replicas = 1 + (spec.has_job("worker") ? spec.num_tasks("worker") : 0);
  config.global_id_in_cluster = global_id(spec, chief, *type, *id);
  const TFConfigClusterResolver resolver({.rpc_layer = "grpc", .variables = variables});
  config.master = resolver.master();
}

/// Checks that neither TF_CONFIG nor another environment of a job names further tasks.
DISTRIBUTE_INLINE void check_alone(const untrusted::JsonValue& root, const Environment& variables) {
  if (const std::string why = misplaced_cluster(root, "TF_CONFIG"); !why.empty())
    throw InvalidArgumentError(why);
  const ImpliedResolver implied = implied_resolver(variables);
  int tasks = implied.resolver->world_size().value_or(0);
  const ClusterSpec spec = implied.resolver->cluster_spec();
  if (tasks == 0)
    for (const auto& [job, members] : spec.as_dict()) tasks += members.size();
  if (tasks > 1)
    throw FailedPreconditionError(
        str_cat("Estimator finds its tasks in TF_CONFIG alone, and this is ", implied.reason,
                " with ", tasks, " tasks: set TF_CONFIG, as distribute run does"));
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE RunConfigCluster read_run_config_cluster(const Environment& variables,
                                                           const std::string& model_dir) {
  using namespace cluster_internal;
  const untrusted::JsonValue root = json_object_variable(variables, "TF_CONFIG");
  RunConfigCluster config;
  config.model_dir = run_config_model_dir(root, model_dir);
  if (const untrusted::JsonValue* service = root.find("service"); service && !service->is_null())
    untrusted::object_of(*service, "TF_CONFIG: service");
  config.evaluation_master = run_config_text(root, "eval_session_master");
  if (const untrusted::JsonValue* cluster = root.find("cluster"))
    config.cluster_spec = cluster_spec_of(*cluster, "TF_CONFIG: cluster");
  if (config.cluster_spec) {
    read_distributed(config, root, variables);
    return config;
  }
  check_alone(root, variables);
  config.task_type = task_type_in(root, "TF_CONFIG").value_or(TaskType::Worker);
  config.task_id = task_id_in(root, "TF_CONFIG").value_or(0);
  if (config.task_type != TaskType::Worker)
    throw InvalidArgumentError("If \"cluster\" is not set in TF_CONFIG, task type must be WORKER.");
  if (config.task_id != 0)
    throw InvalidArgumentError("If \"cluster\" is not set in TF_CONFIG, task index must be 0.");
  config.master = run_config_text(root, "session_master");
  return config;
}

}  // namespace distribute
