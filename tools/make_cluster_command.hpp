#pragma once
/// `distribute cluster make`: the TF_CONFIG of every host of a cluster.

namespace distribute_tools {

/// The command: `argv` begins with "make". Returns the exit status: 2, and one line on stderr, for
/// wrong usage and hosts that make no cluster, 1 when the script cannot be written.
int make_cluster_command(int argc, char** argv);

}  // namespace distribute_tools
