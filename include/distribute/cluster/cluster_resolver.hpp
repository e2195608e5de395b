#pragma once
/// What every environment answers: which tasks the cluster has, and which one this process is.

#include <distribute/base/config.hpp>
#include <distribute/cluster/cluster_spec.hpp>

#include <map>
#include <optional>
#include <string>

namespace distribute {

/// Base of all resolvers. Answers are fresh: nothing that may change is kept. Values that are set
/// win over what the environment says. Thread-compatible.
/// Throws  InvalidArgumentError or FailedPreconditionError when the environment cannot be read; the
///         message names the variable or file, shows the place and says what was wanted.
/// Source  tf.distribute.cluster_resolver.ClusterResolver
class ClusterResolver {
 public:
  virtual ~ClusterResolver() = default;

  /// All tasks of the job, with their addresses.
  /// Throws  what the source of this kind may fail with, such as UnavailableError for a service.
  virtual ClusterSpec cluster_spec() const = 0;

  /// The address of a task, with "rpc_layer://" in front where one is set; each kind of resolver
  /// has its rules for what is not given.
  std::string master(const std::optional<TaskType>& task_type = {}, std::optional<int> task_id = {},
                     const std::optional<std::string>& rpc_layer = {}) const {
    return find_master(task_type, task_id, rpc_layer);
  }

  /// Number of accelerators by kind, such as {"GPU": 8}; of this process unless a task is given.
  std::map<std::string, int> num_accelerators() const { return find_accelerators(); }

  /// Nothing where the environment does not say.
  std::optional<TaskType> task_type() const { return task_type_ ? task_type_ : find_task_type(); }
  std::optional<int> task_id() const { return task_id_ ? task_id_ : find_task_id(); }
  std::optional<std::string> rpc_layer() const {
    return rpc_layer_ ? rpc_layer_ : find_rpc_layer();
  }
  /// "google" inside of Google, "" elsewhere; never read from JSON.
  const std::string& environment() const { return environment_; }

  /// Take the place of what the environment says.
  virtual void set_task_type(std::optional<TaskType> value) { task_type_ = std::move(value); }
  void set_task_id(std::optional<int> value) { task_id_ = value; }
  void set_rpc_layer(std::optional<std::string> value) { rpc_layer_ = std::move(value); }

  /// How many workers take part, where the environment tells their number but not their addresses:
  /// cluster_spec() then holds worker 0 alone. Nothing where cluster_spec() is complete.
  virtual std::optional<int> world_size() const { return std::nullopt; }

  /// Why this process, which knows that it belongs to a job, would train alone or in vain; "" for a
  /// whole cluster and for a process that is alone by its environment.
  DISTRIBUTE_INLINE virtual std::string incomplete_because() const;

 protected:
  ClusterResolver() = default;
  ClusterResolver(const ClusterResolver&) = default;
  ClusterResolver& operator=(const ClusterResolver&) = default;

  virtual std::optional<TaskType> find_task_type() const { return std::nullopt; }
  virtual std::optional<int> find_task_id() const { return std::nullopt; }
  virtual std::optional<std::string> find_rpc_layer() const { return std::nullopt; }
  /// The given task, else this one; "" when neither is known.
  DISTRIBUTE_INLINE virtual std::string find_master(
      const std::optional<TaskType>& task_type, std::optional<int> task_id,
      const std::optional<std::string>& rpc_layer) const;
  /// The logical devices of this process that are not CPUs.
  DISTRIBUTE_INLINE virtual std::map<std::string, int> find_accelerators() const;

  /// TFConfigClusterResolver's rule: "" for a cluster of one task, else as find_master, but a task
  /// that is not known is an error.
  std::string master_of_cluster(const std::optional<TaskType>& task_type,
                                std::optional<int> task_id,
                                const std::optional<std::string>& rpc_layer) const;

  std::string environment_;

 private:
  std::optional<TaskType> task_type_;
  std::optional<int> task_id_;
  std::optional<std::string> rpc_layer_;
};

/// For code that is about to join the cluster.
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

/// Answers what it was given.
/// Source  tf.distribute.cluster_resolver.SimpleClusterResolver
class SimpleClusterResolver : public ClusterResolver {
 public:
  explicit SimpleClusterResolver(ClusterSpec cluster_spec,
                                 SimpleClusterResolverOptions options = {});
  ClusterSpec cluster_spec() const override { return cluster_spec_; }

 protected:
  /// The address of a task when type and id are given, else the master of the options.
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
/// Gives "grpc://a:1", or the address alone without a layer.
std::string format_master_url(const std::string& address, const std::string& rpc_layer);
/// What is wrong with a task of that type and number whose cluster has no tasks; "" for worker 0,
/// which is alone, and for an evaluator, which is outside of the cluster.
std::string task_without_cluster(const std::optional<TaskType>& type, std::optional<int> id);
}  // namespace cluster_internal

}  // namespace distribute
