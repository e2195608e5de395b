#pragma once
#include <distribute/base/detail/usage_error.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/json_variable.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE untrusted::JsonValue json_object_variable(const Environment& variables,
                                                            const std::string& name) {
  return *JsonVariable(variables, name).object();
}

/// Returns member `key` of "task"; null when either is missing.
DISTRIBUTE_INLINE const untrusted::JsonValue* task_member(const untrusted::JsonValue& root,
                                                          const std::string& name,
                                                          const char* key) {
  const untrusted::JsonValue* task = root.find("task");
  return task ? untrusted::object_of(*task, name + ": task").find(key) : nullptr;
}

/// Converts as Python's str(): 5 is "5", null is "None".
DISTRIBUTE_INLINE std::optional<TaskType> task_type_in(const untrusted::JsonValue& root,
                                                       const std::string& name) {
  const untrusted::JsonValue* type = task_member(root, name, "type");
  if (!type) return std::nullopt;
  switch (type->kind) {
    case untrusted::JsonValue::Kind::Null: return TaskType("None");
    case untrusted::JsonValue::Kind::Boolean:
      return TaskType(type->text == "true" ? "True" : "False");
    case untrusted::JsonValue::Kind::Number: return TaskType(type->text);
    default: return TaskType(untrusted::string_of(*type, name + ": task.type"));
  }
}

DISTRIBUTE_INLINE std::optional<int> task_id_in(const untrusted::JsonValue& root,
                                                const std::string& name) {
  const untrusted::JsonValue* index = task_member(root, name, "index");
  if (!index) return std::nullopt;
  return untrusted::int_of(*index, name + ": task.index");
}

DISTRIBUTE_INLINE bool is_list(const untrusted::JsonValue& value) {
  return value.is_array() || value.is_object();
}

DISTRIBUTE_INLINE bool names_a_job(const std::string& key, const untrusted::JsonValue& value) {
  constexpr std::string_view kJobs[] = {TaskType::Chief, TaskType::Worker, TaskType::Master,
                                        TaskType::ParameterServer, TaskType::Evaluator};
  return is_list(value) && std::find(std::begin(kJobs), std::end(kJobs), key) != std::end(kJobs);
}

/// Whether it is a key such as "clusters" or "sparseCluster", a job on the top level, or an object
/// of jobs.
DISTRIBUTE_INLINE bool looks_like_cluster(std::string key, const untrusted::JsonValue& value) {
  for (char& c : key) c = char(std::tolower(static_cast<unsigned char>(c)));
  if (key.find("cluster") != std::string::npos || names_a_job(key, value)) return true;
  return std::any_of(value.members.begin(), value.members.end(),
                     [](const auto& member) { return names_a_job(member.key, member.value); });
}

DISTRIBUTE_INLINE std::string misplaced_cluster(const untrusted::JsonValue& root,
                                                const std::string& name) {
  for (const auto& [key, value] : root.members)
    if (key != "cluster" && looks_like_cluster(key, value))
      return str_cat(name, ": the tasks of the job are wanted under the key \"cluster\", there is ",
                     untrusted::shown(key));
  return root.find("cluster") ? name + ": `cluster` is empty" : "";
}

/// Returns a member of TF_CONFIG that is a string; nullopt if it is null or missing.
DISTRIBUTE_INLINE std::optional<std::string> text_in(const untrusted::JsonValue& root,
                                                     const char* key) {
  const untrusted::JsonValue* value = root.find(key);
  if (!value || value->is_null()) return std::nullopt;
  return untrusted::string_of(*value, std::string("TF_CONFIG: ") + key);
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE TFConfigClusterResolver::TFConfigClusterResolver(
    TFConfigClusterResolverOptions options)
    : config_(std::make_shared<cluster_internal::JsonVariable>(std::move(options.variables),
                                                               "TF_CONFIG")) {
  set_task_type(std::move(options.task_type));
  set_task_id(options.task_id);
  set_rpc_layer(std::move(options.rpc_layer));
  environment_ = std::move(options.environment);
}

DISTRIBUTE_INLINE ClusterSpec TFConfigClusterResolver::cluster_spec() const {
  const auto root = config_->object();
  const auto* cluster = root->find("cluster");
  if (!cluster) return ClusterSpec();
  return base_internal::reading_usage(
      [&] { return cluster_internal::cluster_spec_of(*cluster, "TF_CONFIG: cluster"); });
}

/// Whether "worker" is an object that names this task alone, or no task if this is not a worker.
DISTRIBUTE_INLINE bool TFConfigClusterResolver::has_dynamic_workers() const {
  const auto root = config_->object();
  const auto* cluster = root->find("cluster");
  const auto* workers = cluster ? cluster->find("worker") : nullptr;
  const auto type = find_task_type();
  const auto index = find_task_id();
  if (!workers || !workers->is_object() || !cluster->find("ps") || !type || !index) return false;
  if (*type != TaskType::Worker) return workers->members.empty();
  return workers->members.size() == 1 && workers->members[0].key == std::to_string(*index);
}

DISTRIBUTE_INLINE std::string TFConfigClusterResolver::incomplete_because() const {
  using namespace cluster_internal;
  if (has_dynamic_workers())
    return "TF_CONFIG names no other worker, as the training operator writes it for a TFJob with "
           "enableDynamicWorker; its tasks cannot meet. Leave enableDynamicWorker out of the job: "
           "with DISTRIBUTE_MIN_WORKERS on the chief, workers of parameter servers may come and go "
           "all the same, and with --elastic those that train in step";
  if (cluster_spec()) return "";
  std::string why = misplaced_cluster(*config_->object(), "TF_CONFIG");
  if (why.empty()) why = task_without_cluster(task_type(), task_id());
  if (why.empty()) return "";
  if (!why.starts_with("TF_CONFIG")) why = "TF_CONFIG: " + why;
  return why +
         "; write {\"cluster\": {\"worker\": [\"host:port\", ...]}, \"task\": ...}, or "
         "unset TF_CONFIG for a process that trains alone";
}

DISTRIBUTE_INLINE std::optional<TaskType> TFConfigClusterResolver::find_task_type() const {
  return base_internal::reading_usage(
      [&] { return cluster_internal::task_type_in(*config_->object(), "TF_CONFIG"); });
}

DISTRIBUTE_INLINE std::optional<int> TFConfigClusterResolver::find_task_id() const {
  return base_internal::reading_usage(
      [&] { return cluster_internal::task_id_in(*config_->object(), "TF_CONFIG"); });
}

DISTRIBUTE_INLINE std::optional<std::string> TFConfigClusterResolver::find_rpc_layer() const {
  return cluster_internal::text_in(*config_->object(), "rpc_layer");
}

DISTRIBUTE_INLINE std::string TFConfigClusterResolver::find_master(
    const std::optional<TaskType>& task_type, std::optional<int> task_id,
    const std::optional<std::string>& rpc_layer) const {
  const auto session_master = cluster_internal::text_in(*config_->object(), "session_master");
  return session_master ? *session_master : master_of_cluster(task_type, task_id, rpc_layer);
}

}  // namespace distribute
