#pragma once
/// Passes file descriptors, such as those of shared memory, between processes of one host.

#include <distribute/base/config.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/socket.hpp>

#include <string>

namespace distribute::net {

/// An abstract Unix socket with a name, open to processes of the same user in the same network
/// namespace. So a client is certainly on this host, whatever names and environment say. It leaves
/// no file. Thread-compatible.
class DescriptorListener {
 public:
  /// `name`: at most 100 characters. Errors: Unavailable.
  static absl::StatusOr<DescriptorListener> open(const std::string& name);
  /// Waits for the next client of the same user; clients of other users are refused.
  /// Errors  DeadlineExceeded.
  absl::StatusOr<Socket> accept(Deadline deadline) const;

 private:
  explicit DescriptorListener(Socket socket) : socket_(std::move(socket)) {}
  Socket socket_;
};

/// Connects to the listener of this name, which must belong to the same user. Waits while the
/// listener's queue is full.
/// Errors  DeadlineExceeded, Unavailable.
absl::StatusOr<Socket> connect_to_descriptors(const std::string& name, Deadline deadline);

/// Sends a descriptor over a connection of accept() and connect_to_descriptors().
absl::Status send_descriptor(const Socket& socket, int descriptor);
/// Receives a descriptor, which the caller then owns. Errors: DeadlineExceeded, Unavailable.
absl::StatusOr<int> receive_descriptor(const Socket& socket, Deadline deadline);

}  // namespace distribute::net
