#pragma once
/// Time that a rank polls for messages before it sleeps.

#include <distribute/base/config.hpp>
#include <distribute/net/socket.hpp>

#include <vector>

namespace distribute::collective {

/// Polling for a few microseconds saves the wake-up, but takes the core from other threads: the
/// time is 0 if this host has more ranks than cores.
/// Units   seconds.
double useful_spin(int ranks_on_host);
/// Counts the ranks on this host by their connections; `flows[peer]` are the connections to a rank.
double useful_spin(const std::vector<std::vector<net::Socket>>& flows);

}  // namespace distribute::collective
