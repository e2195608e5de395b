#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/base/status.hpp>
#include <distribute/cluster/default_resolver.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/net/address.hpp>
#include <distribute/platforms/job_paths.hpp>
#include <distribute/platforms/sagemaker_cluster_resolver.hpp>

#include <algorithm>
#include <utility>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE std::vector<std::string> sorted_hosts(const untrusted::JsonValue& list,
                                                        const std::string& place) {
  if (!list.is_array())
    throw InvalidArgumentError(place + " must be a list of hosts, not " + list.describe());
  std::vector<std::string> names;
  for (const untrusted::JsonValue& host : list.items)
    names.push_back(untrusted::string_of(host, place + ": a host"));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE SageMakerClusterResolver::SageMakerClusterResolver(
    SageMakerClusterResolverOptions options)
    : port_(options.port),
      resource_config_(std::move(options.resource_config)),
      variables_(std::move(options.variables)) {
  if (resource_config_.empty()) resource_config_ = sagemaker_resource_config(variables_);
  set_task_type(std::move(options.task_type));
  set_task_id(options.task_id);
  set_rpc_layer(std::move(options.rpc_layer));
  environment_ = std::move(options.environment);
}

DISTRIBUTE_INLINE SageMakerClusterResolver::Hosts SageMakerClusterResolver::hosts() const {
  using namespace cluster_internal;
  const auto names = variables_("SM_HOSTS");
  const auto current = variables_("SM_CURRENT_HOST");
  Hosts result;
  std::string own;
  if (names && current) {
    if (!names->empty())
      result.names = sorted_hosts(untrusted::parse_json(*names, "SM_HOSTS"), "SM_HOSTS");
    own = *current;
  } else {
    const auto text = io::read_file(resource_config_);
    if (!text.ok())
      throw FailedPreconditionError(
          "Not a SageMaker Environment: SM_CURRENT_HOST and SM_HOSTS are "
          "not both set, and " +
          std::string(text.status().message()));
    const untrusted::JsonValue root = untrusted::parse_json(*text, resource_config_);
    const untrusted::JsonValue none;
    const untrusted::JsonValue* list = untrusted::object_of(root, resource_config_).find("hosts");
    const untrusted::JsonValue* host = root.find("current_host");
    result.names = sorted_hosts(list ? *list : none, resource_config_ + ": hosts");
    own = untrusted::string_of(host ? *host : none, resource_config_ + ": current_host");
  }
  result.current = own;
  const auto found = std::find(result.names.begin(), result.names.end(), own);
  if (found != result.names.end()) result.own = int(found - result.names.begin());
  return result;
}

DISTRIBUTE_INLINE ClusterSpec SageMakerClusterResolver::cluster_spec() const {
  const Hosts all = hosts();
  if (!all.own) return ClusterSpec();
  std::vector<std::string> addresses;
  for (const std::string& name : all.names) addresses.push_back(net::join_host_port(name, port_));
  return ClusterSpec{{"worker", addresses}};
}

DISTRIBUTE_INLINE std::string SageMakerClusterResolver::incomplete_because() const {
  const Hosts all = hosts();
  const int processes = read_sagemaker_processes(variables_).per_host;
  if (all.own && processes > 1)
    return str_cat(
        "SageMaker: the job asks for ", processes,
        " processes on each host (processes_per_host of the SDK's mpi distribution), and "
        "this one was started alone: let the container start `distribute run --sagemaker "
        "-- PROGRAM`");
  if (all.own) return "";
  return str_cat("SageMaker: this host, ", untrusted::shown(all.current), ", is not among the ",
                 all.names.size(), " hosts of SM_HOSTS or resourceconfig.json");
}

DISTRIBUTE_INLINE std::optional<TaskType> SageMakerClusterResolver::find_task_type() const {
  return hosts().own ? std::optional<TaskType>(TaskType::Worker) : std::nullopt;
}

DISTRIBUTE_INLINE std::optional<int> SageMakerClusterResolver::find_task_id() const {
  return hosts().own;
}

}  // namespace distribute
