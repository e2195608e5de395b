#pragma once
/// From host names to numeric addresses, with a deadline.

#include <distribute/net/address.hpp>
#include <distribute/net/deadline.hpp>

#include <vector>

namespace distribute::net {

/// All numeric addresses of a host, IPv4 first; at least one.
/// Blocks  until the system's resolver answers; an answer after the deadline is dropped.
/// Errors  Unavailable when the name is not known (yet); DeadlineExceeded.
absl::StatusOr<std::vector<Address>> resolve(const Address& address, Deadline deadline);

/// Whether a numeric address, loopback ones included, is one of this host's.
bool is_of_this_host(const Address& numeric);

}  // namespace distribute::net
