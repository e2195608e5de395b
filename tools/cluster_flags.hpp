#pragma once
/// The rows of cluster_flags.inc, for trainers and for commands that read a cluster.

#include "command.hpp"

#include <distribute/cluster/cluster_resolvers.hpp>

namespace distribute_tools {

/// `Options` derives from ClusterFlags.
template <typename Options>
std::vector<Row<Options>> with_cluster_flags(std::vector<Row<Options>> rows) {
  Rows<Options> all{.rows = std::move(rows)};
#define GROUP(heading) all.group = heading;
#define FLAG(type, name, value, rule, help) \
  all.add(#name, &distribute::ClusterFlags::name, rule, help);
#include "cluster_flags.inc"
#undef FLAG
#undef GROUP
  return all.rows;
}

}  // namespace distribute_tools
