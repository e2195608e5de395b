#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/device/placement.hpp>

#include <utility>

namespace distribute {

DISTRIBUTE_INLINE std::string cluster_internal::format_master_url(const std::string& address,
                                                                  const std::string& rpc_layer) {
  return rpc_layer.empty() ? address : rpc_layer + "://" + address;
}

DISTRIBUTE_INLINE std::string cluster_internal::task_without_cluster(
    const std::optional<TaskType>& type, std::optional<int> id) {
  const bool outside = type == TaskType::Evaluator;
  const bool alone = (!type || type == TaskType::Worker) && id.value_or(0) == 0;
  if (outside || alone) return "";
  return str_cat("this process is ", untrusted::shown(type ? type->name() : "task"), " ",
                 id ? std::to_string(*id) : "of an unknown number",
                 ", but no cluster names the addresses of the job's tasks");
}

DISTRIBUTE_INLINE std::string ClusterResolver::incomplete_because() const {
  if (cluster_spec()) return "";
  return cluster_internal::task_without_cluster(task_type(), task_id());
}

DISTRIBUTE_INLINE void check_complete(const ClusterResolver& resolver) {
  if (const std::string why = resolver.incomplete_because(); !why.empty())
    throw InvalidArgumentError(why);
}

DISTRIBUTE_INLINE std::string ClusterResolver::find_master(
    const std::optional<TaskType>& given_type, std::optional<int> given_id,
    const std::optional<std::string>& rpc) const {
  const std::optional<TaskType> type = given_type ? given_type : task_type();
  const std::optional<int> id = given_id ? given_id : task_id();
  if (!type || !id) return "";
  const std::string layer = rpc && !rpc->empty() ? *rpc : rpc_layer().value_or("");
  return cluster_internal::format_master_url(cluster_spec().task_address(type->name(), *id), layer);
}

DISTRIBUTE_INLINE std::string ClusterResolver::master_of_cluster(
    const std::optional<TaskType>& given_type, std::optional<int> given_id,
    const std::optional<std::string>& rpc) const {
  const ClusterSpec spec = cluster_spec();
  if (!spec) return "";
  const auto& only = spec.as_dict().begin()->second;
  if (spec.as_dict().size() == 1 && only.dense() && only.size() == 1) return "";
  const std::optional<TaskType> type = given_type ? given_type : task_type();
  const std::optional<int> id = given_id ? given_id : task_id();
  if (!type) throw InvalidArgumentError("master: the task's type is not known; give it");
  if (!id) throw InvalidArgumentError("master: the task's index is not known; give it");
  const std::string layer = rpc ? *rpc : rpc_layer().value_or("");
  return cluster_internal::format_master_url(spec.task_address(type->name(), *id), layer);
}

DISTRIBUTE_INLINE std::map<std::string, int> ClusterResolver::find_accelerators() const {
  std::map<std::string, int> counts;
  for (const config::LogicalDevice& device : config::list_logical_devices())
    if (device.device_type != "CPU") ++counts[device.device_type];
  return counts;
}

DISTRIBUTE_INLINE SimpleClusterResolver::SimpleClusterResolver(ClusterSpec cluster_spec,
                                                               SimpleClusterResolverOptions options)
    : cluster_spec_(std::move(cluster_spec)),
      master_(std::move(options.master)),
      num_accelerators_(std::move(options.num_accelerators)) {
  set_task_type(std::move(options.task_type));
  set_task_id(options.task_id);
  set_rpc_layer(std::move(options.rpc_layer));
  environment_ = std::move(options.environment);
}

DISTRIBUTE_INLINE std::string SimpleClusterResolver::find_master(
    const std::optional<TaskType>& task_type, std::optional<int> task_id,
    const std::optional<std::string>& rpc) const {
  const std::string address =
      task_type && task_id ? cluster_spec_.task_address(task_type->name(), *task_id) : master_;
  const std::string layer = rpc && !rpc->empty() ? *rpc : rpc_layer().value_or("");
  return cluster_internal::format_master_url(address, layer);
}

}  // namespace distribute
