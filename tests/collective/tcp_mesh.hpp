#pragma once
/// Groups of TCP transports inside one process.

#include <distribute/collective/detail/tcp_transport.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/encrypted_pair.hpp>

#include <memory>
#include <utility>
#include <vector>

#include <sys/socket.h>

namespace tcp_mesh {

using namespace distribute;
using namespace distribute::collective;

/// Costs with which every array takes the algorithm for large ones.
inline TcpOptions large_only(int64_t segment_bytes) {
  return {.costs = {.latency = 0, .per_message = 0}, .segment_bytes = segment_bytes};
}

/// Both ends of a connection: Unix sockets, which are made faster than tcp_pair().
inline std::pair<net::Socket, net::Socket> local_pair() {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  return {net::Socket(ends[0], "local"), net::Socket(ends[1], "local")};
}

/// Plain for a null `tls`.
inline std::vector<TcpMesh> make_meshes(int size, int flows, bool loopback,
                                        const TlsPtr& tls = nullptr) {
  std::vector<TcpMesh> meshes(static_cast<size_t>(size));
  for (int r = 0; r < size; ++r) {
    meshes[size_t(r)].rank = r;
    meshes[size_t(r)].flows.resize(size_t(size));
  }
  for (size_t a = 0; a < meshes.size(); ++a)
    for (size_t b = a + 1; b < meshes.size(); ++b)
      for (int f = 0; f < flows; ++f) {
        auto [one, other] = loopback ? tcp_pair(tls) : local_pair();
        meshes[a].flows[b].push_back(std::move(one));
        meshes[b].flows[a].push_back(std::move(other));
      }
  return meshes;
}

inline std::vector<std::unique_ptr<Transport>> make_group(int size, int flows, bool loopback,
                                                          const TcpOptions& options = {},
                                                          const TlsPtr& tls = nullptr) {
  std::vector<std::unique_ptr<Transport>> group;
  for (TcpMesh& mesh : make_meshes(size, flows, loopback, tls))
    group.push_back(std::make_unique<TcpTransport>(std::move(mesh), options));
  return group;
}

}  // namespace tcp_mesh
