#pragma once
/// Base of resolvers, which tell the tasks of a cluster and which one this process is.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_spec.hpp>

#include <map>
#include <optional>
#include <string>

namespace distribute {

/// Is the base of all resolvers. Thread-compatible.
/// 1. Every call reads the environment anew; nothing that may change is kept.
/// 2. Values that are set take precedence over the environment.
/// Throws  InvalidArgumentError or FailedPreconditionError when the environment cannot be read; the
///          message names the variable or file, shows the place and says what was expected.
/// Source  tf.distribute.cluster_resolver.ClusterResolver
class ClusterResolver {
 public:
  virtual ~ClusterResolver() = default;

  /// Returns all tasks of the job, with their addresses.
  /// Throws  errors of the source, such as UnavailableError for a service.
  virtual ClusterSpec cluster_spec() const = 0;

  /// Returns the address of a task, with "rpc_layer://" in front if it is set; each kind of
  /// resolver has its rules for arguments that are not given.
  std::string master(const std::optional<TaskType>& task_type = {}, std::optional<int> task_id = {},
                     const std::optional<std::string>& rpc_layer = {}) const {
    return find_master(task_type, task_id, rpc_layer);
  }

  /// Returns the number of accelerators by kind, such as {"GPU": 8}; of this process unless a task
  /// is given.
  std::map<std::string, int> num_accelerators() const { return find_accelerators(); }

  /// Returns nullopt if the environment does not tell it.
  std::optional<TaskType> task_type() const { return task_type_ ? task_type_ : find_task_type(); }
  std::optional<int> task_id() const { return task_id_ ? task_id_ : find_task_id(); }
  std::optional<std::string> rpc_layer() const {
    return rpc_layer_ ? rpc_layer_ : find_rpc_layer();
  }
  /// "google" inside of Google, "" elsewhere; never read from JSON.
  const std::string& environment() const { return environment_; }

  /// Set values that take precedence over the environment.
  virtual void set_task_type(std::optional<TaskType> value) { task_type_ = std::move(value); }
  void set_task_id(std::optional<int> value) { task_id_ = value; }
  void set_rpc_layer(std::optional<std::string> value) { rpc_layer_ = std::move(value); }

  /// Returns the number of workers if the environment tells it but not their addresses:
  /// cluster_spec() then holds worker 0 alone. Returns nullopt if cluster_spec() is complete.
  virtual std::optional<int> world_size() const { return std::nullopt; }

  /// Returns why this process, which belongs to a job, would train alone or in vain; "" for a
  /// complete cluster and for a process that is alone by its environment.
  DISTRIBUTE_INLINE virtual std::string incomplete_because() const;

 protected:
  ClusterResolver() = default;
  ClusterResolver(const ClusterResolver&) = default;
  ClusterResolver& operator=(const ClusterResolver&) = default;

  virtual std::optional<TaskType> find_task_type() const { return std::nullopt; }
  virtual std::optional<int> find_task_id() const { return std::nullopt; }
  virtual std::optional<std::string> find_rpc_layer() const { return std::nullopt; }
  /// Uses the given task, else this one; returns "" when neither is known.
  DISTRIBUTE_INLINE virtual std::string find_master(
      const std::optional<TaskType>& task_type, std::optional<int> task_id,
      const std::optional<std::string>& rpc_layer) const;
  /// Counts the logical devices of this process that are not CPUs.
  DISTRIBUTE_INLINE virtual std::map<std::string, int> find_accelerators() const;

  /// Implements TFConfigClusterResolver's rule: "" for a cluster of one task, else as find_master,
  /// but an unknown task is an error.
  std::string master_of_cluster(const std::optional<TaskType>& task_type,
                                std::optional<int> task_id,
                                const std::optional<std::string>& rpc_layer) const;

  std::string environment_;

 private:
  std::optional<TaskType> task_type_;
  std::optional<int> task_id_;
  std::optional<std::string> rpc_layer_;
};

/// Checks a resolver before its cluster is joined.
/// Throws  InvalidArgumentError with the resolver's incomplete_because().
void check_complete(const ClusterResolver& resolver);

struct SimpleClusterResolverOptions {  // options of SimpleClusterResolver
  std::string master = {};
  std::optional<TaskType> task_type = {};
  std::optional<int> task_id = {};
  std::string environment = {};
  std::map<std::string, int> num_accelerators = {};
  std::optional<std::string> rpc_layer = {};
};

/// Returns the values of its options.
/// Source  tf.distribute.cluster_resolver.SimpleClusterResolver
class SimpleClusterResolver : public ClusterResolver {
 public:
  explicit SimpleClusterResolver(ClusterSpec cluster_spec,
                                 SimpleClusterResolverOptions options = {});
  ClusterSpec cluster_spec() const override { return cluster_spec_; }

 protected:
  /// Returns the address of a task when type and id are given, else the master of the options.
  DISTRIBUTE_INLINE std::string find_master(
      const std::optional<TaskType>& task_type, std::optional<int> task_id,
      const std::optional<std::string>& rpc_layer) const override;
  std::map<std::string, int> find_accelerators() const override { return num_accelerators_; }

 private:
  ClusterSpec cluster_spec_;
  std::string master_;
  std::map<std::string, int> num_accelerators_;
};

namespace cluster_internal {
/// Returns "grpc://a:1", or the address alone without a layer.
std::string format_master_url(const std::string& address, const std::string& rpc_layer);
/// Returns what is wrong with a task of that type and number whose cluster has no tasks; "" for
/// worker 0, which is alone, and for an evaluator, which is outside of the cluster.
std::string task_without_cluster(const std::optional<TaskType>& type, std::optional<int> id);
}  // namespace cluster_internal

}  // namespace distribute
