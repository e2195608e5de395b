#pragma once
/// Cluster resolvers for jobs that mpirun or torchrun started.

#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/cluster/detail/leader_cluster_resolver.hpp>

namespace distribute {

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

/// Reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT (29500); without RANK, for one process per
/// node, PET_NODE_RANK, PET_NNODES, PET_MASTER_ADDR and PET_MASTER_PORT. If torchrun itself listens
/// on MASTER_PORT (TORCHELASTIC_USE_AGENT_STORE=True) the leader takes the next port.
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
