#pragma once
/// Connections of a test, plain and encrypted.

#include "catch.hpp"

#include <distribute/base/status.hpp>
#include <distribute/net/detail/encrypt.hpp>
#include <distribute/net/detail/tls.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

using TlsPtr = std::shared_ptr<const distribute::net::TlsContext>;

inline TlsPtr token_tls(const std::string& token = "the token of the tests") {
  return distribute::value_or_throw(
      distribute::net::TlsContext::make({.name = "worker 1", .token = token}));
}

/// Both ends of a TCP connection over 127.0.0.1: the one that connected, the one that accepted.
inline std::pair<distribute::net::Socket, distribute::net::Socket> tcp_pair() {
  using distribute::net::Socket;
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(listener, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::listen(listener, 1) == 0);
  REQUIRE(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const int there = ::socket(AF_INET, SOCK_STREAM, 0);
  REQUIRE(::connect(there, reinterpret_cast<sockaddr*>(&address), size) == 0);
  const int here = ::accept(listener, nullptr, nullptr);
  REQUIRE(here >= 0);
  ::close(listener);
  return {Socket(there, "127.0.0.1:1"), Socket(here, "127.0.0.1:2")};
}

/// The same, encrypted; plain for null.
inline std::pair<distribute::net::Socket, distribute::net::Socket> tcp_pair(const TlsPtr& tls) {
  auto pair = tcp_pair();
  if (tls)
    distribute::throw_if_error(distribute::net::encrypt_pair(
        pair.first, pair.second, tls, distribute::net::Deadline::after_seconds(10)));
  return pair;
}
