#pragma once
/// Slurm's two small grammars: lists of hosts and numbers of tasks on each.

#include <distribute/base/config.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace distribute {

/// The most hosts, or tasks-per-node counts, that a list may name.
inline constexpr int kMaxSlurmHosts = 100'000;

/// "n[1-2],m5,o[3-4,6]" -> n1, n2, m5, o3, o4, o6. Ranges keep the width of their first number
/// (n[08-10] -> n08, n09, n10); a name may have several brackets (rack[0-1]node[1-2], the left one
/// slowest) and text behind them. Order is kept, and nothing is removed.
/// Throws  InvalidArgumentError ("Invalid hostlist format") that says what is wrong.
/// Source  expand_hostlist of TensorFlow's slurm_cluster_resolver.py, which allows one bracket at
///         the end; man scontrol, "show hostnames"
std::vector<std::string> expand_hostlist(std::string_view hostlist);

/// "3(x2),2,1" -> 3, 3, 2, 1.
/// Throws  InvalidArgumentError ("Invalid tasks-per-node list format").
std::vector<int> expand_tasks_per_node(std::string_view tasks_per_node);

}  // namespace distribute
