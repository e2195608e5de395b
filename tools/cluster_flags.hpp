#pragma once
/// The flags that describe a cluster instead of TF_CONFIG, for commands that read one.

#include "command.hpp"

#include <distribute/cluster/flags_cluster_resolver.hpp>

namespace distribute_tools {

/// `Options` derives from ClusterFlags.
template <typename Options>
std::vector<Row<Options>> with_cluster_flags(std::vector<Row<Options>> rows) {
  using Flags = distribute::ClusterFlags;
  const std::vector<Row<Options>> more = {
      {"job_name=J", &Flags::job_name, "job of this task, such as worker or ps"},
      {"task_index=I", &Flags::task_index, "number of this task in its job"},
      {"ps_hosts=A,B", &Flags::ps_hosts, "host:port of the parameter servers"},
      {"worker_hosts=A,B", &Flags::worker_hosts, "host:port of the workers"},
      {"chief_hosts=A", &Flags::chief_hosts, "host:port of the chief"},
      {"evaluator_hosts=A", &Flags::evaluator_hosts, "host:port of the evaluator"}};
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace distribute_tools
