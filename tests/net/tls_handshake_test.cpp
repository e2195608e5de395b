#include <distribute/net/detail/tls_handshake.hpp>

#include <tests/support/encrypted_pair.hpp>

#include <poll.h>

#if DISTRIBUTE_HAS_OPENSSL

namespace net = distribute::net;
using distribute::throw_if_error;
using net::TlsHandshake;

TEST_CASE("a TLS handshake goes on when the other side has spoken, and never waits",
          "[net][tls_handshake]") {
  auto [client, server] = tcp_pair();
  const auto tls = token_tls();
  TlsHandshake one(tls, TlsHandshake::Role::Client, client.native());
  TlsHandshake other(tls, TlsHandshake::Role::Server, server.native());
  throw_if_error(other.advance());  // no bytes have come
  CHECK_FALSE(other.finished());
  CHECK(other.events() == POLLIN);
  throw_if_error(one.advance());
  CHECK(server.peek_byte() == net::kTlsFirstByte);
  throw_if_error(one.advance());
  CHECK_FALSE(one.finished());
  throw_if_error(other.advance());
  throw_if_error(one.advance());
  CHECK(one.finished());
  CHECK_FALSE(other.finished());
  throw_if_error(other.advance());
  CHECK(other.finished());
}

TEST_CASE("a client that goes away in the middle of the TLS handshake is Unavailable",
          "[net][tls_handshake]") {
  auto [client, server] = tcp_pair();
  const auto tls = token_tls();
  TlsHandshake other(tls, TlsHandshake::Role::Server, server.native());
  {
    TlsHandshake one(tls, TlsHandshake::Role::Client, client.native());
    throw_if_error(one.advance());
  }
  throw_if_error(other.advance());
  client.close();
  CHECK(other.advance().code() == absl::StatusCode::kUnavailable);
}

#else

TEST_CASE("builds without OpenSSL cannot encrypt", "[net][tls_handshake]") {
  WARN("not tested here");
}

#endif
