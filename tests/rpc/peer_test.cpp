#include <distribute/base/error.hpp>
#include <distribute/rpc/detail/peer.hpp>

#include <tests/support/catch.hpp>

using distribute::UnavailableError;
using distribute::rpc::Peer;

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
