#pragma once
#include <distribute/base/error.hpp>
#include <distribute/launch/launcher.hpp>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include <netinet/in.h>
#include <sys/socket.h>

namespace distribute::launch {

DISTRIBUTE_INLINE ReservedPort::ReservedPort(int wanted)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(uint16_t(wanted));
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof(address);
  // The options are set once the port is ours: with them a port in use would be given to us too.
  const int on = 1;
  if (::bind(socket_.native(), generic, size) != 0 ||
      ::setsockopt(socket_.native(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      ::setsockopt(socket_.native(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) != 0 ||
      ::getsockname(socket_.native(), generic, &size) != 0)
    throw UnavailableError(str_cat("cannot reserve ", wanted ? "port " : "a port",
                                   wanted ? std::to_string(wanted) : "",
                                   " of 127.0.0.1: ", std::strerror(errno)));
  number_ = ntohs(address.sin_port);
}

}  // namespace distribute::launch
