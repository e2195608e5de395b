#pragma once
/// Describes a cluster of Kubernetes pods, as the API lists them or as a pod sees itself.

#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/cluster/cluster_resolver.hpp>

#include <functional>
#include <vector>

namespace distribute {

struct KubernetesClusterResolverOptions {  // options of KubernetesClusterResolver
  /// Takes a label selector and gives the API's answer, a PodList in JSON (GET
  /// /api/v1/pods?labelSelector=...). Unset: the pod's own environment is read instead.
  std::function<std::string(const std::string& label_selector)> list_pods = {};
  std::vector<std::pair<std::string, std::vector<std::string>>> job_to_label_mapping = {
      {"worker", {"job-name=tensorflow"}}};
  bool use_pod_ip = false;  // false: the host's address, as in TensorFlow

  std::optional<int> replicas = {};  // used without list_pods; unset: DISTRIBUTE_REPLICAS
  /// headless service; "": DISTRIBUTE_SERVICE, the JobSet's, else the set's name
  std::string service = {};
  std::string kubernetes_namespace = {};  // "": POD_NAMESPACE; without both, names stay short
  std::string pod_info = "/etc/podinfo";  // directory of the downward API: labels, annotations

  int tf_server_port = 8470;
  std::optional<std::string> rpc_layer = "grpc";
  Environment variables = {};
};

/// With `list_pods` it works as in TensorFlow: every cluster_spec() asks again, the pods of a
/// selector are sorted by name, and task type and id are empty until they are set.
///
/// Without `list_pods` this pod is worker i of a StatefulSet or of an indexed Job. Its index comes
/// from
/// JOB_COMPLETION_INDEX, the labels of the downward API, or the end of its host name ("trainer-3");
/// worker k has the name trainer-k.<service>[.<namespace>.svc].
/// Throws  FailedPreconditionError for a pod that is not running ("Pod "x" is not running; phase:
///         "Pending""), and when name, index or number of replicas cannot be found;
///         InvalidArgumentError for an answer that is not a PodList.
/// Source  tf.distribute.cluster_resolver.KubernetesClusterResolver
class KubernetesClusterResolver : public ClusterResolver {
 public:
  explicit KubernetesClusterResolver(EmptyBraces) : KubernetesClusterResolver() {}
  explicit KubernetesClusterResolver(KubernetesClusterResolverOptions options = {});
  DISTRIBUTE_INLINE ClusterSpec cluster_spec() const override;

 protected:
  DISTRIBUTE_INLINE std::optional<TaskType> find_task_type() const override;
  DISTRIBUTE_INLINE std::optional<int> find_task_id() const override;

 private:
  struct Pod {
    std::string set;  // name without the index
    int index = 0;
    std::string service;
  };
  Pod own_pod() const;
  int replicas() const;
  std::vector<std::string> addresses_of(const std::string& selector) const;

  KubernetesClusterResolverOptions options_;
};

namespace cluster_internal {
/// Parses lines key="value" with Go's escapes, as the downward API writes labels; other lines are
/// skipped.
std::map<std::string, std::string> parse_pod_info(std::string_view text);
}  // namespace cluster_internal

}  // namespace distribute
