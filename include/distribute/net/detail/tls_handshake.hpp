#pragma once
/// How a connection becomes an encrypted one.

#include <distribute/base/config.hpp>
#include <distribute/net/detail/secure_layer.hpp>
#include <distribute/net/detail/tls.hpp>

#include <absl/status/status.h>

#include <cstddef>
#include <memory>
#include <string>

namespace distribute::net {

/// The first byte of every TLS connection, and that of one that is refused at once.
inline constexpr std::byte kTlsFirstByte{0x16}, kTlsAlertByte{0x15};

/// One side of the handshake on a connected, non-blocking descriptor, which it borrows. Never
/// waits: advance() does what the descriptor allows now. Thread-compatible.
class TlsHandshake {
 public:
  enum class Role { Client, Server };

  /// `host`: the name or numeric address that a server's certificate must be for; clients only.
  TlsHandshake(std::shared_ptr<const TlsContext> context, Role role, int descriptor,
               const std::string& host = "");
  ~TlsHandshake();
  TlsHandshake(const TlsHandshake&) = delete;

  /// Errors  Unauthenticated when the two do not trust each other, with the reason and the cure;
  ///         Unavailable when the connection is gone.
  absl::Status advance();
  bool finished() const;
  /// What ::poll should wait for.
  short events() const;
  /// Call it once the handshake is finished.
  std::unique_ptr<SecureLayer> take_layer();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace distribute::net
