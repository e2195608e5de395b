#pragma once
/// The rows of cluster_flags.inc, for trainers and for commands that read a cluster.

#include "command.hpp"

#include <distribute/cluster/cluster_resolvers.hpp>

namespace distribute_tools {

/// `Options` derives from ClusterFlags.
template <typename Options>
std::vector<Row<Options>> with_cluster_flags(std::vector<Row<Options>> rows) {
  const std::vector<Row<Options>> more = {
#define FLAG(type, name, value, rule, help) {#name, &distribute::ClusterFlags::name, rule, help},
#include "cluster_flags.inc"
#undef FLAG
  };
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace distribute_tools
