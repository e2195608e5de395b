#pragma once
/// Connections to a task's address, with a deadline.

#include <distribute/net/address.hpp>
#include <distribute/net/socket.hpp>

#include <functional>

namespace distribute::net {

/// Resolves the host and tries its addresses one after the other, once.
/// Errors  Unavailable when the port is closed or the name unknown; DeadlineExceeded. Both name the
///         address.
absl::StatusOr<Socket> connect(const Address& address, Deadline deadline);

/// connect() again and again while the port is closed or the name does not resolve yet: tasks
/// start in any order. `keep_trying` is asked between two tries with the last error; false ends
/// the wait with that error.
/// Errors  DeadlineExceeded with the last reason.
absl::StatusOr<Socket> connect_patiently(
    const Address& address, Deadline deadline,
    const std::function<bool(const absl::Status&)>& keep_trying = nullptr);

}  // namespace distribute::net
