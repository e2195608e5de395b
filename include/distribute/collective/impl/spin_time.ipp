#pragma once
#include <distribute/base/limits.hpp>
#include <distribute/collective/detail/spin_time.hpp>

#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>

namespace distribute::collective {

/// Whether both ends of a connection are on this host.
DISTRIBUTE_INLINE bool is_local(int socket) {
  sockaddr_storage here{}, there{};
  socklen_t here_size = sizeof here, there_size = sizeof there;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&here), &here_size) != 0 ||
      ::getpeername(socket, reinterpret_cast<sockaddr*>(&there), &there_size) != 0)
    return false;
  if (here.ss_family == AF_INET)
    return reinterpret_cast<const sockaddr_in&>(here).sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in&>(there).sin_addr.s_addr;
  if (here.ss_family == AF_INET6)
    return std::memcmp(&reinterpret_cast<const sockaddr_in6&>(here).sin6_addr,
                       &reinterpret_cast<const sockaddr_in6&>(there).sin6_addr,
                       sizeof(in6_addr)) == 0;
  return here.ss_family == AF_UNIX;
}

DISTRIBUTE_INLINE double useful_spin(int ranks_on_host) {
  return spinning_pays(ranks_on_host) ? 8e-6 : 0;
}

DISTRIBUTE_INLINE double useful_spin(const std::vector<std::vector<net::Socket>>& flows) {
  int local = 1;
  for (const auto& peer : flows) local += !peer.empty() && is_local(peer[0].native());
  return useful_spin(local);
}

}  // namespace distribute::collective
