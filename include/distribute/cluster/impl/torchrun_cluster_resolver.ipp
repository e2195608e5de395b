#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_resolvers.hpp>
#include <distribute/net/address.hpp>

#include <utility>

namespace distribute {

DISTRIBUTE_INLINE TorchrunClusterResolver::TorchrunClusterResolver(
    TorchrunClusterResolverOptions options)
    : variables_(std::move(options.variables)) {
  set_rpc_layer(std::move(options.rpc_layer));
}

DISTRIBUTE_INLINE int TorchrunClusterResolver::needed(const std::string& name) const {
  if (const auto value = variables_.integer(name)) return *value;
  throw FailedPreconditionError(
      name +
      " is not set. Not started by torchrun? RANK and WORLD_SIZE, or PET_NODE_RANK and "
      "PET_NNODES, must be in the environment");
}

DISTRIBUTE_INLINE std::string TorchrunClusterResolver::leader(const std::string& address_name,
                                                              const std::string& port_name) const {
  const auto address = variables_(address_name);
  if (!address || address->empty())
    throw FailedPreconditionError(address_name + " is not set: the host of rank 0 is not known");
  const int64_t port = variables_.integer(port_name).value_or(29500);
  const auto taken = variables_("TORCHELASTIC_USE_AGENT_STORE");
  const bool next = taken && (*taken == "True" || *taken == "true" || *taken == "1");
  return net::join_host_port(*address, port + (next ? 1 : 0));
}

DISTRIBUTE_INLINE LeaderClusterResolver::World TorchrunClusterResolver::world() const {
  if (!variables_.has("RANK") && variables_.has("PET_NNODES")) return node_world();
  const int rank = needed("RANK"), size = needed("WORLD_SIZE");
  World world = cluster_internal::checked_world(rank, size, leader("MASTER_ADDR", "MASTER_PORT"),
                                                "RANK", "WORLD_SIZE");
  world.local_size = variables_.integer("LOCAL_WORLD_SIZE");
  return world;
}

DISTRIBUTE_INLINE LeaderClusterResolver::World TorchrunClusterResolver::node_world() const {
  const std::string nodes = variables_("PET_NNODES").value_or("");
  const size_t colon = nodes.find(':');
  const auto least = untrusted::parse_int(nodes.substr(0, colon));
  const auto most =
      colon == std::string::npos ? least : untrusted::parse_int(nodes.substr(colon + 1));
  if (!least || !most)
    throw InvalidArgumentError("PET_NNODES must be a number of nodes, not " +
                               untrusted::shown(nodes));
  if (*least != *most)
    throw FailedPreconditionError("PET_NNODES is " + nodes +
                                  ": an elastic number of nodes is not supported, give one number");
  const int rank = needed("PET_NODE_RANK");
  return cluster_internal::checked_world(rank, *least, leader("PET_MASTER_ADDR", "PET_MASTER_PORT"),
                                         "PET_NODE_RANK", "PET_NNODES");
}

}  // namespace distribute
