#pragma once
/// Turns a connection into an encrypted one.

#include <distribute/base/config.hpp>
#include <distribute/net/detail/secure_layer.hpp>
#include <distribute/net/detail/tls.hpp>

#include <absl/status/status.h>

#include <cstddef>
#include <memory>
#include <string>

namespace distribute::net {

/// The first byte of every TLS connection, and of a connection that is refused at once.
inline constexpr std::byte kTlsFirstByte{0x16}, kTlsAlertByte{0x15};

/// One side of the handshake on a connected, non-blocking descriptor, which it borrows. advance()
/// does what is possible now and never waits. Thread-compatible.
class TlsHandshake {
 public:
  enum class Role { Client, Server };

  /// `host`, for clients only, is the name or numeric address that a server's certificate must be
  /// for.
  TlsHandshake(std::shared_ptr<const TlsContext> context, Role role, int descriptor,
               const std::string& host = "");
  ~TlsHandshake();
  TlsHandshake(const TlsHandshake&) = delete;

  /// Continues the handshake.
  /// Errors  Unauthenticated when the two sides do not trust each other, with reason and cure;
  ///         Unavailable when the connection is gone.
  absl::Status advance();
  bool finished() const;
  /// The events that ::poll should wait for.
  short events() const;
  /// Gives the encrypted layer. Call it once the handshake is finished.
  std::unique_ptr<SecureLayer> take_layer();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::net
