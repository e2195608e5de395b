#pragma once
/// Describes the cluster of an instance group of Google Compute Engine: its running machines.

#include <distribute/base/environment.hpp>
#include <distribute/cluster/cluster_resolver.hpp>

#include <memory>
#include <vector>

namespace distribute {

struct GCEClusterResolverOptions {  // options of GCEClusterResolver
  std::string project = {};         // project id; "": this machine's, from its metadata server
  std::string zone = {};            // "": this machine's
  std::string instance_group = {};
  int port = 0;  // port of the task on every machine
  TaskType task_type = TaskType::Worker;
  /// The index of this machine's task. Unset: the position of this machine's address among the
  /// sorted ones. TensorFlow has no such rule; with its default every machine must be told its
  /// index.
  std::optional<int> task_id = 0;
  std::optional<std::string> rpc_layer = "grpc";
  /// "default": the credentials that GoogleAuthProvider finds, usually the machine's service
  /// account. Any other text is a bearer token; "" means no token.
  std::string credentials = "default";
  std::string service = "https://compute.googleapis.com/compute/v1";
  double request_timeout = 60;  // seconds for one answer of the service
  int max_attempts = 6;         // for one request that may be repeated
  /// The environment: GCE_METADATA_HOST, which names another metadata server, and the variables of
  /// GoogleAuthProvider.
  Environment variables = {};
};

/// Every cluster_spec() asks the service again: for the group's instances that are RUNNING, page by
/// page, and then for the internal address of each instance's first network interface. Addresses
/// are sorted as strings, as in TensorFlow, and listed under the job `task_type`. task_id may be
/// set later.
/// Throws  InvalidArgumentError for options without a group or a port, for a type that is set
///         later, and for answers that are not such lists; FailedPreconditionError for a group
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
  /// Throws  FailedPreconditionError, because the type is the name of the listed job.
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
