#pragma once
/// The cluster that mpirun has started (Open MPI, MPICH, Intel MPI, MVAPICH), or horovodrun; MPI is
/// not called.

#include <distribute/base/empty_braces.hpp>
#include <distribute/cluster/environment.hpp>
#include <distribute/cluster/leader_cluster_resolver.hpp>

namespace distribute {

struct OpenMpiClusterResolverOptions {  // options of OpenMpiClusterResolver
  int port = 29500;                     // of rank 0, unless MASTER_PORT says another
  std::optional<std::string> rpc_layer = {};
  Environment variables = {};
};

/// Reads rank and size from HOROVOD_RANK/_SIZE, OMPI_COMM_WORLD_RANK/_SIZE,
/// MV2_COMM_WORLD_RANK/_SIZE or PMI_RANK/PMI_SIZE. mpirun tells no addresses: MASTER_ADDR names the
/// host of rank 0 (mpirun -x MASTER_ADDR=host); ranks that all run on one host meet at 127.0.0.1
/// without it. Throws  FailedPreconditionError outside of mpirun, and without MASTER_ADDR on
/// several hosts.
class OpenMpiClusterResolver : public LeaderClusterResolver {
 public:
  explicit OpenMpiClusterResolver(EmptyBraces) : OpenMpiClusterResolver() {}
  explicit OpenMpiClusterResolver(OpenMpiClusterResolverOptions options = {});

  /// An elastic horovodrun (HOROVOD_ELASTIC) changes ranks and their number while it runs, which
  /// its processes do not hear here.
  DISTRIBUTE_INLINE std::string incomplete_because() const override;

 protected:
  DISTRIBUTE_INLINE World world() const override;

 private:
  std::string leader(int size, const char* local_size_name) const;

  int port_;
  Environment variables_;
};

}  // namespace distribute
