#pragma once
/// The cluster that the variable TF_CONFIG describes.

#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/environment.hpp>

#include <memory>

namespace distribute {

namespace untrusted {
struct JsonValue;
}  // namespace untrusted

namespace cluster_internal {
class JsonVariable;
}  // namespace cluster_internal

struct TFConfigClusterResolverOptions {    // options of TFConfigClusterResolver
  std::optional<TaskType> task_type = {};  // these win over TF_CONFIG
  std::optional<int> task_id = {};
  std::optional<std::string> rpc_layer = {};
  std::string environment = {};
  Environment variables = {};
};

/// Reads TF_CONFIG for every answer, and parses it when it has changed: {"cluster": {job: [address,
/// ...] or {index: address}}, "task": {"type": ..., "index": ...}, "rpc_layer": ...,
/// "session_master": ...}; other members are not looked at. An unset variable is {}, a single
/// process, as is a task worker 0 without a cluster. Who uses the cluster checks the names of its
/// jobs (cluster/multi_worker_util.hpp), and check_complete() refuses a TF_CONFIG that speaks of a
/// job and does not name its tasks: another task without a cluster, an empty cluster, a cluster
/// under another key, and what the training operator tells the tasks of a TFJob with
/// enableDynamicWorker. Throws  InvalidArgumentError for text that cannot be read, and for a key
/// that occurs twice. Source  tf.distribute.cluster_resolver.TFConfigClusterResolver
class TFConfigClusterResolver : public ClusterResolver {
 public:
  explicit TFConfigClusterResolver(EmptyBraces) : TFConfigClusterResolver() {}
  explicit TFConfigClusterResolver(TFConfigClusterResolverOptions options = {});
  DISTRIBUTE_INLINE ClusterSpec cluster_spec() const override;
  /// Whether TF_CONFIG is of a TFJob with enableDynamicWorker: each worker sees itself and the
  /// parameter servers, each server itself, any other task no task, so that they cannot meet.
  bool has_dynamic_workers() const;
  DISTRIBUTE_INLINE std::string incomplete_because() const override;

 protected:
  DISTRIBUTE_INLINE std::optional<TaskType> find_task_type() const override;
  DISTRIBUTE_INLINE std::optional<int> find_task_id() const override;
  DISTRIBUTE_INLINE std::optional<std::string> find_rpc_layer() const override;
  /// "session_master" when it is there; "" for a cluster of one task; else the task's address.
  DISTRIBUTE_INLINE std::string find_master(
      const std::optional<TaskType>& task_type, std::optional<int> task_id,
      const std::optional<std::string>& rpc_layer) const override;

 private:
  std::shared_ptr<cluster_internal::JsonVariable> config_;
};

namespace cluster_internal {
/// The text of variable `name`, {} when it is not set.
untrusted::JsonValue json_object_variable(const Environment& variables, const std::string& name);
/// task.type and task.index of such an object; `name` stands in errors.
std::optional<TaskType> task_type_in(const untrusted::JsonValue& root, const std::string& name);
std::optional<int> task_id_in(const untrusted::JsonValue& root, const std::string& name);
/// What an object without `cluster`, or with an empty one, says about a cluster all the same: its
/// `cluster` is empty, or another member looks like one. "" when nothing does.
std::string misplaced_cluster(const untrusted::JsonValue& root, const std::string& name);
}  // namespace cluster_internal

}  // namespace distribute
