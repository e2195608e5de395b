#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/net/address.hpp>
#include <distribute/platforms/kubernetes_cluster_resolver.hpp>

#include <algorithm>
#include <utility>

namespace distribute::cluster_internal {

DISTRIBUTE_INLINE std::map<std::string, std::string> parse_pod_info(std::string_view text) {
  std::map<std::string, std::string> pairs;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const size_t equals = line.find("=\"");
    if (equals == std::string_view::npos || line.size() < equals + 3 || !line.ends_with('"'))
      continue;
    std::string value;
    const std::string_view quoted = line.substr(equals + 2, line.size() - equals - 3);
    for (size_t i = 0; i < quoted.size(); ++i) {
      const bool escaped = quoted[i] == '\\' && i + 1 < quoted.size();
      if (escaped) ++i;
      value += escaped && quoted[i] == 'n' ? '\n' : quoted[i];
    }
    pairs[std::string(line.substr(0, equals))] = value;
  }
  return pairs;
}

/// Reads labels and annotations of this pod; empty if the files are missing.
DISTRIBUTE_INLINE std::map<std::string, std::string> read_pod_info(const std::string& directory) {
  std::map<std::string, std::string> pairs;
  for (const char* file : {"labels", "annotations"})
    if (const auto text = io::read_file(io::join_path(directory, file)); text.ok())
      pairs.merge(parse_pod_info(*text));
  return pairs;
}

/// Gives a string below two keys, such as metadata.name.
DISTRIBUTE_INLINE std::string pod_field(const untrusted::JsonValue& pod, const char* outer,
                                        const char* inner, const std::string& place) {
  const untrusted::JsonValue* parent = pod.find(outer);
  const untrusted::JsonValue* value = parent ? parent->find(inner) : nullptr;
  return value ? untrusted::string_of(*value, str_cat(place, ": ", outer, ".", inner))
               : std::string();
}

/// Splits "name-12" into name and number; empty for other names.
DISTRIBUTE_INLINE std::optional<std::pair<std::string, int>> split_ordinal(
    const std::string& name) {
  const size_t dash = name.rfind('-');
  if (dash == std::string::npos || dash == 0) return std::nullopt;
  const std::string digits = name.substr(dash + 1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  const auto number = untrusted::parse_int(digits);
  if (!number) return std::nullopt;
  return std::pair(name.substr(0, dash), *number);
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE KubernetesClusterResolver::KubernetesClusterResolver(
    KubernetesClusterResolverOptions options)
    : options_(std::move(options)) {
  set_rpc_layer(options_.rpc_layer);
}

DISTRIBUTE_INLINE std::vector<std::string> KubernetesClusterResolver::addresses_of(
    const std::string& selector) const {
  using namespace cluster_internal;
  const std::string place = "pods of " + selector;
  const untrusted::JsonValue answer = untrusted::parse_json(options_.list_pods(selector), place);
  const untrusted::JsonValue* items = untrusted::object_of(answer, place).find("items");
  if (!items || !items->is_array())
    throw InvalidArgumentError(place + ": the answer has no list `items`; is it a PodList?");
  std::map<std::string, std::string> by_name;
  for (const untrusted::JsonValue& pod : items->items) {
    const std::string name = pod_field(pod, "metadata", "name", place);
    const std::string phase = pod_field(pod, "status", "phase", place);
    if (phase != "Running")
      throw FailedPreconditionError("Pod \"" + name + "\" is not running; phase: \"" + phase +
                                    "\"");
    const char* key = options_.use_pod_ip ? "podIP" : "hostIP";
    const std::string ip = pod_field(pod, "status", key, place);
    if (ip.empty())
      throw InvalidArgumentError(
          str_cat(place, ": pod ", untrusted::shown(name), " has no status.", key));
    by_name[name] = net::join_host_port(ip, options_.tf_server_port);
  }
  std::vector<std::string> addresses;
  for (const auto& [name, address] : by_name) addresses.push_back(address);
  return addresses;
}

DISTRIBUTE_INLINE KubernetesClusterResolver::Pod KubernetesClusterResolver::own_pod() const {
  using namespace cluster_internal;
  const auto info = read_pod_info(options_.pod_info);
  const auto label = [&](const char* key) {
    const auto found = info.find(key);
    return found == info.end() ? std::string() : found->second;
  };
  std::string name = options_.variables("HOSTNAME").value_or("");
  name.resize(std::min(name.size(), name.find('.')));
  if (name.empty()) name = label("statefulset.kubernetes.io/pod-name");
  const auto parts = split_ordinal(name);
  if (!parts)
    throw FailedPreconditionError("HOSTNAME is " + untrusted::shown(name) +
                                  ", not <name>-<index> as in a StatefulSet or an indexed Job");
  Pod pod{parts->first, parts->second, options_.service};
  std::optional<int> index = options_.variables.integer("JOB_COMPLETION_INDEX");
  for (const char* key : {"batch.kubernetes.io/job-completion-index",
                          "apps.kubernetes.io/pod-index", "training.kubeflow.org/replica-index"})
    if (!index) index = untrusted::parse_int(label(key));
  pod.index = index.value_or(parts->second);
  if (pod.service.empty()) pod.service = options_.variables("DISTRIBUTE_SERVICE").value_or("");
  if (pod.service.empty()) pod.service = label("jobset.sigs.k8s.io/jobset-name");
  if (pod.service.empty()) pod.service = pod.set;
  return pod;
}

DISTRIBUTE_INLINE int KubernetesClusterResolver::replicas() const {
  const auto count =
      options_.replicas ? options_.replicas : options_.variables.integer("DISTRIBUTE_REPLICAS");
  if (!count)
    throw FailedPreconditionError(
        "a pod does not know how many replicas its set has: set DISTRIBUTE_REPLICAS in its "
        "template, or use list_pods");
  if (*count < 1 || *count > 100'000)
    throw InvalidArgumentError(
        str_cat("the number of replicas must be from 1 to 100000, not ", *count));
  return *count;
}

DISTRIBUTE_INLINE ClusterSpec KubernetesClusterResolver::cluster_spec() const {
  ClusterSpec::Jobs jobs;
  if (options_.list_pods) {
    for (const auto& [job, selectors] : options_.job_to_label_mapping) {
      std::vector<std::string> addresses;
      for (const std::string& selector : selectors)
        for (std::string& address : addresses_of(selector)) addresses.push_back(std::move(address));
      jobs[job] = JobTasks(addresses);
    }
    return ClusterSpec(std::move(jobs));
  }
  const Pod pod = own_pod();
  std::string space = options_.kubernetes_namespace;
  if (space.empty()) space = options_.variables("POD_NAMESPACE").value_or("");
  const std::string domain = "." + pod.service + (space.empty() ? "" : "." + space + ".svc");
  std::vector<std::string> addresses;
  for (int i = 0; i < replicas(); ++i)
    addresses.push_back(
        net::join_host_port(str_cat(pod.set, "-", i, domain), options_.tf_server_port));
  return ClusterSpec{{"worker", addresses}};
}

DISTRIBUTE_INLINE std::optional<TaskType> KubernetesClusterResolver::find_task_type() const {
  if (options_.list_pods) return std::nullopt;
  return TaskType(TaskType::Worker);
}

DISTRIBUTE_INLINE std::optional<int> KubernetesClusterResolver::find_task_id() const {
  if (options_.list_pods) return std::nullopt;
  return own_pod().index;
}

}  // namespace distribute
