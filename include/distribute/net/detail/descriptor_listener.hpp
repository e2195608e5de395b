#pragma once
/// How processes of one host hand a file descriptor, such as one of shared memory, to each other.

#include <distribute/base/config.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/socket.hpp>

#include <string>

namespace distribute::net {

/// An abstract Unix socket with a name, open for processes of the same user in the same network
/// namespace: a client is on this host, whatever names and environment say. No file is left
/// behind. Thread-compatible.
class DescriptorListener {
 public:
  /// `name`: at most 100 characters. Errors: Unavailable.
  static absl::StatusOr<DescriptorListener> open(const std::string& name);
  /// Waits for the next client of the same user; others are turned away.
  /// Errors  DeadlineExceeded.
  absl::StatusOr<Socket> accept(Deadline deadline) const;

 private:
  explicit DescriptorListener(Socket socket) : socket_(std::move(socket)) {}
  Socket socket_;
};

/// The client's side: a connection to the listener of this name, of the same user. Waits while the
/// listener's queue is full.
/// Errors  DeadlineExceeded, Unavailable.
absl::StatusOr<Socket> connect_to_descriptors(const std::string& name, Deadline deadline);

/// Over a connection of accept() and connect_to_descriptors().
absl::Status send_descriptor(const Socket& socket, int descriptor);
/// The descriptor belongs to the caller. Errors: DeadlineExceeded, Unavailable.
absl::StatusOr<int> receive_descriptor(const Socket& socket, Deadline deadline);

}  // namespace distribute::net
