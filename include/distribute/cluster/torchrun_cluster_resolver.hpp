#pragma once
/// The cluster that torchrun, or a PyTorchJob of Kubeflow, has started.

#include <distribute/base/empty_braces.hpp>
#include <distribute/cluster/environment.hpp>
#include <distribute/cluster/leader_cluster_resolver.hpp>

namespace distribute {

struct TorchrunClusterResolverOptions {  // options of TorchrunClusterResolver
  std::optional<std::string> rpc_layer = {};
  Environment variables = {};
};

/// Reads RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT (29500); without RANK one process per node
/// as PET_NODE_RANK, PET_NNODES, PET_MASTER_ADDR and PET_MASTER_PORT say. Where torchrun itself
/// listens on MASTER_PORT (TORCHELASTIC_USE_AGENT_STORE=True) the leader takes the next port.
/// Throws  FailedPreconditionError without these variables, and for an elastic number of nodes
///         ("2:4"): the cluster needs a fixed number.
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
