#pragma once
/// Encrypts connections, with a deadline.

#include <distribute/base/config.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/detail/tls.hpp>
#include <distribute/net/socket.hpp>

#include <memory>
#include <string>

namespace distribute::net {

/// Encrypts everything on `socket` from now on, as its client. A server's certificate must be for
/// the host of socket.peer(), "host:port".
/// Errors  Unauthenticated when the two sides do not trust each other; the other side's message
///         when it does not encrypt; Unavailable; DeadlineExceeded.
absl::Status encrypt(Socket& socket, const std::shared_ptr<const TlsContext>& context,
                     Deadline deadline);

/// Encrypts a connection whose ends are both in this process, for tests and measurements.
absl::Status encrypt_pair(Socket& client, Socket& server,
                          const std::shared_ptr<const TlsContext>& context, Deadline deadline);

/// The message of a task that encrypts to one that does not, and the reverse. Arguments are names
/// of tasks.
absl::Status one_side_encrypts(const std::string& plain_task, const std::string& encrypting_task);

}  // namespace distribute::net
