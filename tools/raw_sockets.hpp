#pragma once
/// What the sockets of this machine can carry, measured without a library.

#include <distribute/net/socket.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace distribute_tools {

/// The two ends of a TCP connection over 127.0.0.1.
/// Throws  distribute::Error.
std::pair<distribute::net::Socket, distribute::net::Socket> loopback_connection();

/// Sends `bytes` to every peer and receives as many from each, both directions at once, in one
/// thread. `peers` without this rank.
/// Throws  std::runtime_error.
void exchange_raw(const std::vector<const distribute::net::Socket*>& peers, size_t bytes,
                  const std::byte* from, std::byte* to);

}  // namespace distribute_tools
