#pragma once
/// Groups of TCP transports inside one process.

#include <distribute/collective/tcp_transport.hpp>

#include <tests/support/catch.hpp>

#include <memory>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tcp_mesh {

using namespace distribute;
using namespace distribute::collective;

/// Both ends of a connection: TCP over loopback.
inline std::pair<net::Socket, net::Socket> loopback_pair() {
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
  return {net::Socket(here, "127.0.0.1"), net::Socket(there, "127.0.0.1")};
}

/// The same with Unix sockets, which are made faster.
inline std::pair<net::Socket, net::Socket> local_pair() {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  return {net::Socket(ends[0], "local"), net::Socket(ends[1], "local")};
}

inline std::vector<TcpMesh> make_meshes(int size, int flows, bool loopback) {
  std::vector<TcpMesh> meshes(static_cast<size_t>(size));
  for (int r = 0; r < size; ++r) {
    meshes[size_t(r)].rank = r;
    meshes[size_t(r)].flows.resize(size_t(size));
  }
  for (size_t a = 0; a < meshes.size(); ++a)
    for (size_t b = a + 1; b < meshes.size(); ++b)
      for (int f = 0; f < flows; ++f) {
        auto [one, other] = loopback ? loopback_pair() : local_pair();
        meshes[a].flows[b].push_back(std::move(one));
        meshes[b].flows[a].push_back(std::move(other));
      }
  return meshes;
}

inline std::vector<std::unique_ptr<Transport>> make_group(int size, int flows, bool loopback,
                                                          const TcpOptions& options = {}) {
  std::vector<std::unique_ptr<Transport>> group;
  for (TcpMesh& mesh : make_meshes(size, flows, loopback))
    group.push_back(std::make_unique<TcpTransport>(std::move(mesh), options));
  return group;
}

}  // namespace tcp_mesh
