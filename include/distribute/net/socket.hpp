#pragma once
/// A connected stream socket, with deadlines, encrypted or not.

#include <distribute/base/config.hpp>
#include <distribute/net/deadline.hpp>
#include <distribute/net/detail/secure_layer.hpp>

#include <absl/status/statusor.h>

#include <cstddef>
#include <memory>
#include <optional>
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
  /// For ::poll and addresses; bytes go through the functions below.
  int native() const { return descriptor_; }
  const std::string& peer() const { return peer_; }
  void set_peer(std::string peer) { peer_ = std::move(peer); }

  /// Fills `out`.
  /// Errors  Unavailable when the peer has closed or reset; DeadlineExceeded. Both name the peer.
  absl::Status read(std::span<std::byte> out, Deadline deadline);
  /// Hands all bytes to the system. Errors as read().
  absl::Status write(std::span<const std::byte> bytes, Deadline deadline);

  /// What is there now, at most what fills `out`, then `more`; 0 when nothing is.
  /// Errors  Unavailable; on an encrypted connection as SecureLayer::read_some.
  absl::StatusOr<size_t> read_some(std::span<std::byte> out, std::span<std::byte> more = {});
  /// As much of `bytes`, then `more`, as the system takes now. After less than all, the next call
  /// must begin with the rest. Errors as read_some().
  absl::StatusOr<size_t> write_some(std::span<const std::byte> bytes,
                                    std::span<const std::byte> more = {});
  /// Whether read_some() may give bytes of which ::poll says nothing: look before you wait.
  bool has_buffered() const { return layer_ && layer_->has_buffered(); }
  /// Whether read_some() has failed because the other end had closed.
  bool saw_end() const { return saw_end_ || (layer_ && layer_->has_ended()); }
  /// Whether the other end has closed and no byte of it is left to read.
  bool has_ended() const;
  /// The next byte on the wire, which stays there; nothing when none has come.
  std::optional<std::byte> peek_byte() const;

  /// Everything from now on goes through `layer`.
  void secure(std::unique_ptr<SecureLayer> layer) { layer_ = std::move(layer); }
  /// Null when the connection is not encrypted.
  const SecureLayer* layer() const { return layer_.get(); }

  /// Ends both directions: waiting reads and writes of any thread fail at once.
  void shutdown() const;
  /// Ends the outgoing direction; the other end reads what was written, and then the end.
  void end_writing() const;
  void close();

 private:
  absl::Status wait(short events, Deadline deadline, const char* what) const;
  absl::Status broken(bool by_end) const;
  absl::StatusOr<size_t> told(absl::StatusOr<size_t> result) const;

  int descriptor_ = -1;
  bool saw_end_ = false;
  std::unique_ptr<SecureLayer> layer_;
  std::string peer_;
};

}  // namespace distribute::net
