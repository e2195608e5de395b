#include <distribute/base/error.hpp>
#include <distribute/parameter_server/detail/directory.hpp>

#include <tests/support/catch.hpp>

#include <atomic>
#include <thread>

using namespace distribute;
using parameter_server::Directory;
using parameter_server::Placement;

TEST_CASE("a variable's server is decided once", "[parameter_server][directory]") {
  Directory directory(3);
  const auto place = [&](const std::string& key, Placement placement = Placement::RoundRobin) {
    return directory.place({.key = key, .shape = {10}}, placement, "worker 0");
  };
  CHECK(directory.find_now("a") == -1);
  CHECK(place("a") == 0);
  CHECK(place("b") == 1);
  CHECK(place("a", Placement::GreedyBytes) == 0);
  CHECK(place("c", Placement::GreedyBytes) == 2);
  CHECK(directory.find_now("c") == 2);
  CHECK(directory.find("b", [] { return true; }) == 1);
}

TEST_CASE("who waits for a word gets it, or gives up", "[parameter_server][directory]") {
  Directory directory(1);
  std::string got;
  std::thread waits([&] { got = directory.get("word", [] { return false; }); });
  directory.set("word", "first");
  waits.join();
  CHECK(got == "first");
  directory.set("word", "second");
  CHECK(directory.get("word", [] { return true; }) == "second");
  CHECK_THROWS_AS(directory.get("other", [] { return true; }), CancelledError);
  CHECK_THROWS_AS(directory.find("variable", [] { return true; }), CancelledError);
}
