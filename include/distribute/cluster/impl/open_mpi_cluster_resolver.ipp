#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/json.hpp>
#include <distribute/cluster/cluster_resolvers.hpp>
#include <distribute/net/address.hpp>

#include <utility>

namespace distribute::cluster_internal {

/// Names of the variables of one MPI, or of horovodrun.
struct MpiNames {
  const char* rank;
  const char* size;
  const char* local_size;
};
inline constexpr MpiNames kMpiNames[] = {
    {"HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_SIZE"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
};

/// The first of SM_HOSTS, where mpirun of SageMaker's toolkit has its rank 0; "" elsewhere.
DISTRIBUTE_INLINE std::string first_sagemaker_host(const Environment& variables) {
  const auto hosts = variables("SM_HOSTS");
  if (!hosts || hosts->empty()) return "";
  const untrusted::JsonValue list = untrusted::parse_json(*hosts, "SM_HOSTS");
  if (!list.is_array() || list.items.empty())
    throw InvalidArgumentError("SM_HOSTS must be a list of hosts, not " + list.describe());
  return untrusted::string_of(list.items.front(), "SM_HOSTS: a host");
}

}  // namespace distribute::cluster_internal

namespace distribute {

DISTRIBUTE_INLINE OpenMpiClusterResolver::OpenMpiClusterResolver(
    OpenMpiClusterResolverOptions options)
    : port_(options.port), variables_(std::move(options.variables)) {
  set_rpc_layer(std::move(options.rpc_layer));
}

DISTRIBUTE_INLINE std::string OpenMpiClusterResolver::leader(int size,
                                                             const char* local_size_name) const {
  const int port = variables_.integer("MASTER_PORT").value_or(port_);
  const auto address = variables_("MASTER_ADDR");
  if (address && !address->empty()) return net::join_host_port(*address, port);
  if (size == 1 || variables_.integer(local_size_name) == size)
    return net::join_host_port("127.0.0.1", port);
  if (const std::string host = cluster_internal::first_sagemaker_host(variables_); !host.empty())
    return net::join_host_port(host, port);
  throw FailedPreconditionError(
      "mpirun does not tell where rank 0 runs; add -x MASTER_ADDR=<host of rank 0>, or set "
      "MASTER_ADDR where HOROVOD_RANK is set");
}

DISTRIBUTE_INLINE std::string OpenMpiClusterResolver::incomplete_because() const {
  if (!variables_.has("HOROVOD_RANK") || variables_("HOROVOD_ELASTIC").value_or("0") == "0")
    return LeaderClusterResolver::incomplete_because();
  return "HOROVOD_ELASTIC is set: the ranks of an elastic horovodrun and their number change while "
         "it runs, and this program is not told. Start with distribute run --min-np, or "
         "leave out horovodrun's --min-np, --max-np and --host-discovery-script";
}

DISTRIBUTE_INLINE LeaderClusterResolver::World OpenMpiClusterResolver::world() const {
  for (const auto& names : cluster_internal::kMpiNames) {
    const auto rank = variables_.integer(names.rank), size = variables_.integer(names.size);
    if (!rank || !size) continue;
    World world = cluster_internal::checked_world(*rank, *size, leader(*size, names.local_size),
                                                  names.rank, names.size);
    world.local_size = variables_.integer(names.local_size);
    return world;
  }
  throw FailedPreconditionError(
      "Not started by mpirun? Neither OMPI_COMM_WORLD_RANK and OMPI_COMM_WORLD_SIZE nor PMI_RANK "
      "and PMI_SIZE are set");
}

}  // namespace distribute
