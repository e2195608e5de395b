#pragma once
/// The state that OpenSSL keeps of one connection, during the handshake and after it.

#include <distribute/net/detail/tls_wire.hpp>
#include <distribute/net/tls.hpp>

#include <memory>
#include <string>

namespace distribute::net_internal {

/// Invariants:
///  1. `ssl` reads from and writes to `wire`, and its application data is this object, so the
///     object never moves.
///  2. `context` lives as long as `ssl`, which uses its keys and its BIO method.
struct TlsConnection {
  /// Borrows `descriptor`. Throws  ResourceExhaustedError when OpenSSL has no memory.
  DISTRIBUTE_INLINE TlsConnection(std::shared_ptr<const net::TlsContext> context, int descriptor);
  TlsConnection(const TlsConnection&) = delete;

  std::shared_ptr<const net::TlsContext> context;
  TlsWire wire;
  TlsNegotiation negotiation;
  SslPtr ssl;
};

}  // namespace distribute::net_internal
