#pragma once
/// The cluster that an instance group of Google Compute Engine is: its running machines.

#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/environment.hpp>

#include <memory>
#include <vector>

namespace distribute {

struct GCEClusterResolverOptions {  // options of GCEClusterResolver
  std::string project = {};         // its id; "": that of this machine, as its metadata server says
  std::string zone = {};            // "": that of this machine
  std::string instance_group = {};
  int port = 0;  // where every machine's task listens
  TaskType task_type = TaskType::Worker;
  /// Without a value it is the place of this machine's address among the sorted ones. TensorFlow
  /// has no such rule; with its default every machine must be told its index.
  std::optional<int> task_id = 0;
  std::optional<std::string> rpc_layer = "grpc";
  /// "default": what GoogleAuthProvider finds, in most cases the machine's service account; else a
  /// bearer token, or "" for none.
  std::string credentials = "default";
  std::string service = "https://compute.googleapis.com/compute/v1";
  double request_timeout = 60;  // seconds, of one of the service's answers
  int max_attempts = 6;         // of one question, where another can help
  /// GCE_METADATA_HOST names another metadata server; the variables of GoogleAuthProvider.
  Environment variables = {};
};

/// Every cluster_spec() asks again: the group's instances that are RUNNING, page by page, and then
/// each for the internal address of its first network interface. Addresses are sorted as strings,
/// as in TensorFlow, and stand under the job `task_type`. task_id may be set later.
/// Throws  InvalidArgumentError for options without a group or a port, for a type that is set
///         later, and for answers that are no such lists; FailedPreconditionError for a group
///         without a running machine and for a machine that is not in it; NotFoundError,
///         PermissionDeniedError, UnauthenticatedError and UnavailableError as the service says,
///         with URL and cure; UnimplementedError in a build without libcurl.
/// Source  tf.distribute.cluster_resolver.GCEClusterResolver; Compute Engine API v1,
///         instanceGroups.listInstances and instances.get
class GCEClusterResolver : public ClusterResolver {
 public:
  explicit GCEClusterResolver(GCEClusterResolverOptions options);
  DISTRIBUTE_INLINE ~GCEClusterResolver() override;
  DISTRIBUTE_INLINE ClusterSpec cluster_spec() const override;
  /// Throws  FailedPreconditionError: the type is the name of the job that is listed.
  DISTRIBUTE_INLINE void set_task_type(std::optional<TaskType> value) override;

 protected:
  std::optional<TaskType> find_task_type() const override { return options_.task_type; }
  DISTRIBUTE_INLINE std::optional<int> find_task_id() const override;

 private:
  class Service;
  std::vector<std::string> addresses() const;

  GCEClusterResolverOptions options_;
  std::unique_ptr<Service> service_;
};

}  // namespace distribute
