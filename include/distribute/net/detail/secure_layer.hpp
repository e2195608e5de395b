#pragma once
/// What may stand between a Socket and its descriptor: it encrypts what goes out and decrypts what
/// comes in.

#include <distribute/base/config.hpp>

#include <absl/status/statusor.h>

#include <cstddef>
#include <span>
#include <string>

namespace distribute::net {

/// Never waits. Thread-safe: one thread may read while another writes.
class SecureLayer {
 public:
  virtual ~SecureLayer() = default;

  /// Fills `first`, then `second`, with what is there now; 0 when nothing is.
  /// Errors  Unavailable when the connection is broken or has_ended(); DataLoss for bytes that were
  ///         changed on their way; Unauthenticated when the other side does not trust this one.
  virtual absl::StatusOr<size_t> read_some(std::span<std::byte> first,
                                           std::span<std::byte> second) = 0;
  /// How many bytes of `first`, then `second`, have gone to the system. After less than all, the
  /// next call must begin with the rest, as some of it may be encrypted already.
  /// Errors  as read_some.
  virtual absl::StatusOr<size_t> write_some(std::span<const std::byte> first,
                                            std::span<const std::byte> second) = 0;
  /// Whether read_some may give bytes of which ::poll says nothing.
  virtual bool has_buffered() const = 0;
  /// Whether the other end has closed the connection.
  virtual bool has_ended() const = 0;
  /// 32 bytes that only the two ends of this connection know (RFC 9266).
  virtual const std::string& binding() const = 0;
};

}  // namespace distribute::net
