#include <distribute/base/error.hpp>
#include <distribute/launch/launcher.hpp>

#include <tests/support/catch.hpp>

#include <netinet/in.h>
#include <sys/socket.h>

using namespace distribute;
using namespace distribute::launch;

namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(uint16_t(port));
  return address;
}

/// Listens at the port with a socket option, or with none (0); empty when the port is refused.
Descriptor listen_at(int port, int option) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  const int on = 1;
  if (option) ::setsockopt(socket.native(), SOL_SOCKET, option, &on, sizeof(on));
  const sockaddr_in address = loopback(port);
  if (::bind(socket.native(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(socket.native(), 1) != 0)
    return Descriptor();
  return socket;
}

bool can_connect(int port) {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  const sockaddr_in address = loopback(port);
  return ::connect(socket.native(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) ==
         0;
}

int any_port() {
  const Descriptor socket(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  ::bind(socket.native(), reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(socket.native(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

}  // namespace

TEST_CASE("a reserved port goes to the server that asks for it, again and again",
          "[launch][reserved_port]") {
  const ReservedPort port;
  for (const int option : {SO_REUSEADDR, SO_REUSEPORT, SO_REUSEADDR}) {
    INFO("option " << option);
    CHECK_FALSE(can_connect(port.number()));
    const Descriptor server = listen_at(port.number(), option);
    REQUIRE(server);
    CHECK(can_connect(port.number()));
  }
}

TEST_CASE("a reserved port is not given to a request for any port", "[launch][reserved_port]") {
  std::vector<ReservedPort> held(20);
  std::set<int> numbers;
  for (const ReservedPort& port : held) numbers.insert(port.number());
  CHECK(numbers.size() == held.size());
  int hits = 0;
  for (int i = 0; i < 40'000; ++i) hits += int(numbers.count(any_port()));
  CHECK(hits == 0);
}

TEST_CASE("a port with a listener cannot be reserved", "[launch][reserved_port]") {
  int number;
  {
    const ReservedPort port;
    number = port.number();
  }
  const Descriptor server = listen_at(number, SO_REUSEADDR);
  REQUIRE(server);
  CHECK_THROWS_AS(ReservedPort(number), UnavailableError);
  CHECK_THROWS_WITH(ReservedPort(number), Contains("port " + std::to_string(number)));
}
