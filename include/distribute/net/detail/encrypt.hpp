#pragma once
/// The connecting side of an encrypted connection, with a deadline.

#include <distribute/base/config.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/detail/tls.hpp>
#include <distribute/net/socket.hpp>

#include <memory>
#include <string>

namespace distribute::net {

/// Everything on `socket` is encrypted from here on. A server's certificate must be for the host of
/// socket.peer(), "host:port".
/// Errors  Unauthenticated when the two do not trust each other; what the other side says when it
///         does not encrypt; Unavailable; DeadlineExceeded.
absl::Status encrypt(Socket& socket, const std::shared_ptr<const TlsContext>& context,
                     Deadline deadline);

/// The same for a connection whose ends are both in this process, for tests and measurements.
absl::Status encrypt_pair(Socket& client, Socket& server,
                          const std::shared_ptr<const TlsContext>& context, Deadline deadline);

/// What a task that does not encrypt says to one that does, and the other way round. Names are
/// those of tasks.
absl::Status one_side_encrypts(const std::string& plain_task, const std::string& encrypting_task);

}  // namespace distribute::net
