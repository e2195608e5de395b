#include <distribute/base/error.hpp>
#include <distribute/rpc/detail/peer_monitor.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/cluster/cluster_support.hpp>
#include <tests/support/catch.hpp>

#include <span>

using distribute::UnavailableError;
using distribute::rpc::Peer;

namespace {

/// Sends a heartbeat and waits until the other end has counted it.
void beat(distribute::net::Socket& socket) {
  const std::string ping = "\x01";
  std::byte echo{};
  distribute::throw_if_error(
      socket.write(std::as_bytes(std::span(ping)), Deadline::after_seconds(10)));
  distribute::throw_if_error(socket.read({&echo, 1}, Deadline::after_seconds(10)));
}

}  // namespace

TEST_CASE("a peer is lost once, and tells each listener once", "[rpc][peer]") {
  Peer peer({"worker", 2, "10.0.0.3:2222", 7});
  CHECK(peer.text() == "worker 2 (10.0.0.3:2222)");
  int calls = 0, removed = 0, late = 0;
  peer.on_lost([&] { ++calls; });
  peer.remove_on_lost(peer.on_lost([&] { ++removed; }));
  CHECK_NOTHROW(peer.throw_if_lost());
  peer.lose("it has ended");
  peer.lose("something else");
  peer.on_lost([&] { ++late; });
  CHECK(peer.lost());
  CHECK(calls == 1);
  CHECK(removed == 0);
  CHECK(late == 1);
  CHECK_THROWS_WITH(peer.throw_if_lost(), "worker 2 (10.0.0.3:2222) is lost: it has ended");
  CHECK_THROWS_AS(peer.throw_if_lost(), UnavailableError);
}

TEST_CASE("callbacks may remove themselves", "[rpc][peer]") {
  Peer peer({"ps", 0});
  int id = 0, calls = 0;
  id = peer.on_lost([&] {
    ++calls;
    peer.remove_on_lost(id);
  });
  peer.lose("gone");
  CHECK(calls == 1);
}

TEST_CASE("each try of a second process waits for two signs of life of the first", "[rpc][peer]") {
  auto listener = local_listener();
  const auto soon = Deadline::after_seconds(10);
  auto first = distribute::value_or_throw(distribute::net::connect(listener.address(), soon));
  distribute::rpc::PeerMonitor monitor(quick_options());
  monitor.watch(std::make_shared<Peer>(distribute::rpc::PeerName{"worker", 0, "", 1}),
                distribute::value_or_throw(listener.accept(soon)), false);
  const auto try_second = [&] { return monitor.check_only_start({"worker", 0, "", 2}).code(); };
  for (int i = 0; i < 2; ++i) {
    for (int sign = 0; sign < 2; ++sign) {
      CHECK(try_second() == absl::StatusCode::kUnavailable);
      beat(first);
    }
    CHECK(try_second() == absl::StatusCode::kFailedPrecondition);
  }
  for (int sign = 0; sign < 2; ++sign) {
    CHECK(try_second() == absl::StatusCode::kUnavailable);
    beat(first);
  }
  first = {};  // it was there until now: the second may try again until this is noticed
  CHECK(try_second() != absl::StatusCode::kFailedPrecondition);
  distribute::testing::wait_until([&] { return try_second() == absl::StatusCode::kOk; }, "the end");
}
