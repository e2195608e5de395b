#include "raw_sockets.hpp"

#include <distribute/base/status.hpp>
#include <distribute/net/socket.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace distribute_tools {

using namespace distribute;

[[noreturn]] void fail_socket(const char* what) {
  throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

std::pair<net::Socket, net::Socket> loopback_connection() {
  const auto soon = net::Deadline::after_seconds(10);
  net::Listener listener = value_or_throw(net::Listener::bind({"127.0.0.1", 0}, soon));
  net::Socket there = value_or_throw(net::connect(listener.address(), soon));
  return {value_or_throw(listener.accept(soon)), std::move(there)};
}

/// One peer's share of an exchange.
struct RawExchange {
  int socket;
  const std::byte* from;
  std::byte* to;
  size_t sent, received;
};

/// One call in each direction, where ::poll allows it.
void move_raw(RawExchange& one, size_t bytes, short ready) {
  constexpr size_t kCall = 256 << 10;  // whole arrays a call are slower here
  const auto bad = [](ssize_t moved) { return moved < 0 && errno != EAGAIN && errno != EINTR; };
  if (ready & POLLOUT) {
    const ssize_t moved =
        ::send(one.socket, one.from + one.sent, std::min(kCall, bytes - one.sent), MSG_NOSIGNAL);
    if (bad(moved)) fail_socket("send");
    one.sent += moved > 0 ? size_t(moved) : 0;
  }
  if (ready & (POLLIN | POLLHUP | POLLERR)) {
    const ssize_t moved =
        ::recv(one.socket, one.to + one.received, std::min(kCall, bytes - one.received), 0);
    if (moved == 0) throw std::runtime_error("a rank has ended");
    if (bad(moved)) fail_socket("recv");
    one.received += moved > 0 ? size_t(moved) : 0;
  }
}

void exchange_raw(const std::vector<const net::Socket*>& peers, size_t bytes, const std::byte* from,
                  std::byte* to) {
  std::vector<RawExchange> all;
  for (const auto* peer : peers) {
    const size_t offset = all.size() * bytes;
    all.push_back({peer->native(), from + offset, to + offset, 0, 0});
  }
  for (bool first = true;; first = false) {
    std::vector<pollfd> polled;
    for (const RawExchange& one : all) {
      const short events =
          short((one.sent < bytes ? POLLOUT : 0) | (one.received < bytes ? POLLIN : 0));
      polled.push_back(
          {events ? one.socket : -1, events, events && first ? short(POLLOUT) : short(0)});
    }
    const bool left = std::any_of(polled.begin(), polled.end(), [](auto& p) { return p.fd >= 0; });
    if (!left) return;
    if (!first && ::poll(polled.data(), polled.size(), 60'000) <= 0) fail_socket("poll");
    for (size_t i = 0; i < all.size(); ++i) move_raw(all[i], bytes, polled[i].revents);
  }
}

}  // namespace distribute_tools
