#pragma once
/// How long a rank looks for messages before it sleeps.

#include <distribute/base/config.hpp>
#include <distribute/net/socket.hpp>

#include <vector>

namespace distribute::collective {

/// Polling for a few microseconds saves the wake-up, but takes the core from other threads:
/// 0 where this host has more ranks than cores.
/// Units   seconds.
double useful_spin(int ranks_on_host);
/// The same of the ranks that are found to be here; `flows[peer]` are the connections to a rank.
double useful_spin(const std::vector<std::vector<net::Socket>>& flows);

}  // namespace distribute::collective
