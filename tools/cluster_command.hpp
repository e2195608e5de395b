#pragma once
/// `distribute cluster`: what the environment, or the classic flags, say about this task.

#include <distribute/cluster/flags_cluster_resolver.hpp>

namespace distribute_tools {

/// Prints a readable explanation, or one JSON object. Returns the exit status: 2, and one line on
/// stderr, when cluster, type or index cannot be read.
int cluster_command(const distribute::ClusterFlags& flags, bool json);

/// `distribute cluster --ready`: 0 when the task that writes DISTRIBUTE_READY_FILE takes part in
/// its job; else 1, and one line on stderr that says why not.
int ready_command();

}  // namespace distribute_tools
