#pragma once
/// Cluster resolvers for command-line flags, for the launchers torchrun and Open MPI, and for the
/// union of several resolvers.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/cluster/cluster_resolver.hpp>
#include <distribute/cluster/detail/leader_cluster_resolver.hpp>

#include <concepts>
#include <memory>
#include <vector>

namespace distribute {

/// Values of --job_name, --task_index, --ps_hosts, --worker_hosts, ...; hosts are host:port with
/// commas.
struct ClusterFlags {
  std::string job_name = {};
  std::optional<int> task_index = {};
  std::string ps_hosts = {};
  std::string worker_hosts = {};
  std::string chief_hosts = {};
  std::string evaluator_hosts = {};

  /// Returns whether any of them was given.
  bool any() const;
};

/// Throws  InvalidArgumentError, which names the flag, for a job without hosts, an index out of
///         range, an address that is not host:port, and a name or index that is missing.
/// Source  the trainers of TensorFlow's "Distributed TensorFlow" guide
class FlagsClusterResolver : public ClusterResolver {
 public:
  explicit FlagsClusterResolver(const ClusterFlags& flags,
                                std::optional<std::string> rpc_layer = {});
  ClusterSpec cluster_spec() const override { return cluster_spec_; }

 protected:
  std::string find_master(const std::optional<TaskType>& task_type, std::optional<int> task_id,
                          const std::optional<std::string>& rpc_layer) const override {
    return master_of_cluster(task_type, task_id, rpc_layer);
  }

 private:
  ClusterSpec cluster_spec_;
};

struct UnionResolverOptions {  // options of UnionResolver
  std::optional<std::string> rpc_layer = {};
  std::optional<TaskType> task_type = {};
  std::optional<int> task_id = {};  // 0 counts, unlike in TensorFlow
};

template <typename T>
concept Resolver = std::derived_from<T, ClusterResolver>;  // any of the resolver classes

/// Merges several clusters job by job: dense jobs of the same name are joined in order; when one of
/// them is sparse, all keep their indices.
/// Throws  InvalidArgumentError without a resolver; cluster_spec(): for an index that two sparse
///          jobs of the same name use ("Duplicate keys detected").
/// Source  tf.distribute.cluster_resolver.UnionResolver
class UnionResolver : public ClusterResolver {
 public:
  explicit UnionResolver(std::vector<std::shared_ptr<const ClusterResolver>> resolvers,
                         UnionResolverOptions options = {});
  /// Keeps copies of the resolvers: UnionResolver(gpu_override, tf_config).
  template <Resolver... Resolvers>
  requires(sizeof...(Resolvers) > 0) explicit UnionResolver(Resolvers... resolvers)
      : UnionResolver(std::vector<std::shared_ptr<const ClusterResolver>>{
            std::make_shared<const Resolvers>(std::move(resolvers))...}) {}

  DISTRIBUTE_INLINE ClusterSpec cluster_spec() const override;
  std::optional<int> world_size() const override { return resolvers_[0]->world_size(); }

 protected:
  std::optional<TaskType> find_task_type() const override { return resolvers_[0]->task_type(); }
  std::optional<int> find_task_id() const override { return resolvers_[0]->task_id(); }
  std::optional<std::string> find_rpc_layer() const override { return resolvers_[0]->rpc_layer(); }
  /// Uses the first resolver, unless type and id are given.
  DISTRIBUTE_INLINE std::string find_master(
      const std::optional<TaskType>& task_type, std::optional<int> task_id,
      const std::optional<std::string>& rpc_layer) const override;
  std::map<std::string, int> find_accelerators() const override {
    return resolvers_[0]->num_accelerators();
  }

 private:
  std::vector<std::shared_ptr<const ClusterResolver>> resolvers_;
};

struct OpenMpiClusterResolverOptions {  // options of OpenMpiClusterResolver
  int port = 29500;                     // of rank 0, unless MASTER_PORT is set
  std::optional<std::string> rpc_layer = {};
  Environment variables = {};
};

/// Reads rank and size from HOROVOD_RANK/_SIZE, OMPI_COMM_WORLD_RANK/_SIZE,
/// MV2_COMM_WORLD_RANK/_SIZE or PMI_RANK/PMI_SIZE. mpirun passes no addresses: MASTER_ADDR names
/// the host of rank 0 (mpirun -x MASTER_ADDR=host); ranks that all run on one host use 127.0.0.1
/// without it.
/// Throws  FailedPreconditionError outside of mpirun, and without MASTER_ADDR on several hosts.
class OpenMpiClusterResolver : public LeaderClusterResolver {
 public:
  explicit OpenMpiClusterResolver(EmptyBraces) : OpenMpiClusterResolver() {}
  explicit OpenMpiClusterResolver(OpenMpiClusterResolverOptions options = {});

  /// Returns a text for an elastic horovodrun (HOROVOD_ELASTIC), which changes ranks and their
  /// number while it runs, without a notice to the processes here.
  DISTRIBUTE_INLINE std::string incomplete_because() const override;

 protected:
  DISTRIBUTE_INLINE World world() const override;

 private:
  std::string leader(int size, const char* local_size_name) const;

  int port_;
  Environment variables_;
};

struct TorchrunClusterResolverOptions {  // options of TorchrunClusterResolver
  std::optional<std::string> rpc_layer = {};
  Environment variables = {};
};

/// Makes the cluster from the variables that torchrun sets: RANK, WORLD_SIZE, MASTER_ADDR and
/// MASTER_PORT (29500). Where RANK is missing, each node has one process, and PET_NODE_RANK,
/// PET_NNODES, PET_MASTER_ADDR and PET_MASTER_PORT are read. If torchrun itself listens on
/// MASTER_PORT (TORCHELASTIC_USE_AGENT_STORE=True), the leader takes the next port.
/// Throws  FailedPreconditionError without these variables, and for an elastic number of nodes
///          ("2:4"): the cluster needs a fixed number.
/// Source  torch.distributed.run; Kubeflow training-operator, pytorch/envvar.go
class TorchrunClusterResolver : public LeaderClusterResolver {
 public:
  explicit TorchrunClusterResolver(EmptyBraces) : TorchrunClusterResolver() {}
  explicit TorchrunClusterResolver(TorchrunClusterResolverOptions options = {});

 protected:
  DISTRIBUTE_INLINE World world() const override;

 private:
  World node_world() const;
  std::string leader(const std::string& address_name, const std::string& port_name) const;
  int needed(const std::string& name) const;

  Environment variables_;
};

}  // namespace distribute
