#pragma once
/// The cluster that the variable TF_CONFIG describes.

#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/cluster/cluster_resolver.hpp>

#include <memory>

namespace distribute {

namespace untrusted {
struct JsonValue;
}  // namespace untrusted

namespace cluster_internal {
class JsonVariable;
}  // namespace cluster_internal

struct TFConfigClusterResolverOptions {    // options of TFConfigClusterResolver
  std::optional<TaskType> task_type = {};  // these take precedence over TF_CONFIG
  std::optional<int> task_id = {};
  std::optional<std::string> rpc_layer = {};
  std::string environment = {};
  Environment variables = {};
};

/// Reads TF_CONFIG at every call, and parses it when it has changed: {"cluster": {job: [address,
/// ...] or {index: address}}, "task": {"type": ..., "index": ...}, "rpc_layer": ...,
/// "session_master": ...}; other members are ignored. An unset variable counts as {}, a single
/// process, and so does a task worker 0 without a cluster. Users of the cluster check the names of
/// its jobs (cluster/cluster_spec.hpp), and check_complete() refuses a TF_CONFIG that belongs
/// to a job and does not name its tasks: another task without a cluster, an empty cluster, a
/// cluster under another key, and the variable that the training operator sets for the tasks of a
/// TFJob with enableDynamicWorker.
/// Throws  InvalidArgumentError for text that cannot be read, and for a key that occurs twice.
/// Source  tf.distribute.cluster_resolver.TFConfigClusterResolver
class TFConfigClusterResolver : public ClusterResolver {
 public:
  explicit TFConfigClusterResolver(EmptyBraces) : TFConfigClusterResolver() {}
  explicit TFConfigClusterResolver(TFConfigClusterResolverOptions options = {});
  DISTRIBUTE_INLINE ClusterSpec cluster_spec() const override;
  /// Returns whether TF_CONFIG belongs to a TFJob with enableDynamicWorker: each worker is told
  /// itself and the parameter servers, each server itself, any other task no task, so that they
  /// cannot meet.
  bool has_dynamic_workers() const;
  DISTRIBUTE_INLINE std::string incomplete_because() const override;

 protected:
  DISTRIBUTE_INLINE std::optional<TaskType> find_task_type() const override;
  DISTRIBUTE_INLINE std::optional<int> find_task_id() const override;
  DISTRIBUTE_INLINE std::optional<std::string> find_rpc_layer() const override;
  /// Returns "session_master" if it is set; "" for a cluster of one task; else the task's address.
  DISTRIBUTE_INLINE std::string find_master(
      const std::optional<TaskType>& task_type, std::optional<int> task_id,
      const std::optional<std::string>& rpc_layer) const override;

 private:
  std::shared_ptr<cluster_internal::JsonVariable> config_;
};

namespace cluster_internal {
/// Returns the value of variable `name`, {} when it is not set.
untrusted::JsonValue json_object_variable(const Environment& variables, const std::string& name);
/// Returns task.type and task.index of such an object; errors contain `name`.
std::optional<TaskType> task_type_in(const untrusted::JsonValue& root, const std::string& name);
std::optional<int> task_id_in(const untrusted::JsonValue& root, const std::string& name);
/// Returns what shows that an object without `cluster`, or with an empty one, describes a cluster
/// all the same: an empty `cluster`, or another member that looks like one; "" if nothing does.
std::string misplaced_cluster(const untrusted::JsonValue& root, const std::string& name);
}  // namespace cluster_internal

}  // namespace distribute
