#include <distribute/base/limits.hpp>
#include <distribute/collective/detail/spin_time.hpp>

#include <tests/support/catch.hpp>

#include <sys/socket.h>

#include <vector>

using distribute::collective::useful_spin;
using distribute::net::Socket;

namespace {

/// A rank of this host with `others` more on it, connected by socket pairs.
double spin_beside(size_t others) {
  std::vector<std::vector<Socket>> flows(others + 1);
  std::vector<Socket> far_ends;
  for (size_t peer = 1; peer <= others; ++peer) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    flows[peer].emplace_back(ends[0], "peer");
    far_ends.emplace_back(ends[1], "peer");
  }
  return useful_spin(flows);
}

}  // namespace

TEST_CASE("ranks spin only while each of their host has a core", "[collective][spin_time]") {
  const size_t cores = size_t(distribute::core_limits().cores());
  CHECK(spin_beside(0) > 0);
  CHECK(spin_beside(cores - 1) > 0);
  CHECK(spin_beside(cores) == 0);
}
