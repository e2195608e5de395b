#pragma once
/// A connected stream socket, with deadlines.

#include <distribute/base/config.hpp>
#include <distribute/net/deadline.hpp>

#include <absl/status/statusor.h>

#include <cstddef>
#include <span>
#include <string>
#include <utility>

namespace distribute::net {

/// Owns a connected, non-blocking socket without Nagle's delay; moved-from is empty.
/// Thread-compatible; one thread may read while another writes, and shutdown() may be called from
/// any thread.
class Socket {
 public:
  Socket() = default;
  /// Takes ownership of a connected descriptor; `peer` names the other end in errors.
  Socket(int descriptor, std::string peer);
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept { *this = std::move(other); }
  Socket& operator=(Socket&& other) noexcept;

  explicit operator bool() const { return descriptor_ >= 0; }
  int native() const { return descriptor_; }
  const std::string& peer() const { return peer_; }
  void set_peer(std::string peer) { peer_ = std::move(peer); }

  /// Fills `out`.
  /// Errors  Unavailable when the peer has closed or reset; DeadlineExceeded. Both name the peer.
  absl::Status read(std::span<std::byte> out, Deadline deadline);
  /// Hands all bytes to the system. Errors as read().
  absl::Status write(std::span<const std::byte> bytes, Deadline deadline);

  /// What is there now, at most out.size() bytes; 0 when nothing is. Errors: Unavailable.
  absl::StatusOr<size_t> read_some(std::span<std::byte> out);
  /// As much as the system takes now. Errors: Unavailable.
  absl::StatusOr<size_t> write_some(std::span<const std::byte> bytes);

  /// Ends both directions: waiting reads and writes of any thread fail at once.
  void shutdown() const;
  void close();

 private:
  absl::Status wait(short events, Deadline deadline, const char* what) const;
  absl::Status broken(bool by_end) const;

  int descriptor_ = -1;
  std::string peer_;
};

}  // namespace distribute::net

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/net/impl/socket.ipp>
#endif
