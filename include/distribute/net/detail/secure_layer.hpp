#pragma once
/// An interface between a Socket and its descriptor that encrypts outgoing bytes and decrypts
/// incoming ones.

#include <distribute/base/config.hpp>

#include <absl/status/statusor.h>

#include <cstddef>
#include <span>
#include <string>

namespace distribute::net {

/// A layer never waits. Thread-safe: one thread may read while another writes.
class SecureLayer {
 public:
  virtual ~SecureLayer() = default;

  /// Fills `first`, then `second`, with the bytes that have arrived; 0 when there are none.
  /// Errors  Unavailable when the connection is broken or has_ended(); DataLoss for bytes that were
  ///         changed on the way; Unauthenticated when the other side does not trust this one.
  virtual absl::StatusOr<size_t> read_some(std::span<std::byte> first,
                                           std::span<std::byte> second) = 0;
  /// Returns how many bytes of `first`, then `second`, the system has taken. After a partial write
  /// the next call must begin with the rest, because a part of it may be encrypted already.
  /// Errors  as read_some().
  virtual absl::StatusOr<size_t> write_some(std::span<const std::byte> first,
                                            std::span<const std::byte> second) = 0;
  /// Whether read_some() may give bytes that ::poll does not report.
  virtual bool has_buffered() const = 0;
  /// Whether the other end has closed the connection.
  virtual bool has_ended() const = 0;
  /// 32 bytes that only the two ends of this connection know (RFC 9266).
  virtual const std::string& binding() const = 0;
};

}  // namespace distribute::net
