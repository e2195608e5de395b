#include <distribute/collective/tcp_transport.hpp>

#include <tests/collective/contract.hpp>
#include <tests/collective/tcp_mesh.hpp>

using namespace tcp_mesh;

TEST_CASE("one TCP connection a pair keeps the contract of transports", "[collective][tcp]") {
  contract::check([](int size) { return make_group(size, 1, true); });
}

TEST_CASE("three flows a pair and small segments keep the contract", "[collective][tcp]") {
  contract::check(
      [](int size) { return make_group(size, 3, false, {.segment_bytes = 10'000}); });
}
