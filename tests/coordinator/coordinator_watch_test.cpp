#include <distribute/coordinator/detail/coordinator_watch.hpp>
#include <distribute/rpc/detail/peer.hpp>

#include <tests/support/catch.hpp>

using namespace distribute::coordinator_internal;
using distribute::rpc::Peer;

TEST_CASE("a coordinator that ends in order is not called lost, one that does not is",
          "[coordinator][coordinator_watch]") {
  const bool in_order = GENERATE(false, true);
  WorkerService service({});
  std::vector<std::string> lines;
  CoordinatorWatch watch(service, {.log = [&](const std::string& line) { lines.push_back(line); }});
  const auto coordinator =
      std::make_shared<Peer>(distribute::rpc::PeerName{"chief", 0, "10.0.0.1:2222", 7});
  watch.greeted(coordinator);
  if (in_order) service.handle("finish", "");
  coordinator->lose("it closed its connections");
  if (in_order)
    CHECK(lines.empty());
  else
    CHECK(lines == std::vector<std::string>{
                       "chief 0 (10.0.0.1:2222) is lost; waiting 300 s for its return"});
}
