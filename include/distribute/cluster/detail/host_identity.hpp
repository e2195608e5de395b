#pragma once
/// Finds out which tasks run on the same host.

#include <distribute/base/config.hpp>

#include <string>
#include <vector>

namespace distribute {

/// Returns a text that is new with every boot of this machine; empty if the system has none.
std::string boot_id();

/// Returns boot id and network namespace: tasks with the same text may try to share memory.
/// Containers of one machine differ.
std::string host_identity();

/// Numbers hosts in the order in which the ranks name them: {"a", "b", "a"} gives {0, 1, 0}. An
/// unknown (empty) host gets its own number.
std::vector<int> number_hosts(const std::vector<std::string>& host_of_rank);

}  // namespace distribute
