#pragma once
/// Which tasks run on the same host.

#include <distribute/base/config.hpp>

#include <string>
#include <vector>

namespace distribute {

/// A text that is new with every boot of this machine; empty where the system has none.
std::string boot_id();

/// Boot id and network namespace: tasks with the same text may try to share memory. Containers of
/// one machine differ.
std::string host_identity();

/// Numbers hosts in the order in which the ranks mention them: {"a", "b", "a"} gives {0, 1, 0}.
/// An unknown (empty) host is a host of its own.
std::vector<int> number_hosts(const std::vector<std::string>& host_of_rank);

}  // namespace distribute
