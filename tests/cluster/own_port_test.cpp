#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/own_port.hpp>
#include <distribute/net/listener.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using Catch::Matchers::Contains;
using cluster_internal::open_own_port;

TEST_CASE("a task waits for its own name and says so", "[cluster][own_port]") {
  std::vector<std::string> lines;
  ClusterOptions options;
  options.startup_timeout = 0.4;
  options.report_interval = 0.05;
  options.log = [&](const std::string& line) { lines.push_back(line); };
  check_throws<UnavailableError>(
      [&] { open_own_port("worker 1", "pod-1.of-nobody.invalid:2222", options); },
      "\"pod-1.of-nobody.invalid\" is not known");
  REQUIRE(!lines.empty());
  CHECK_THAT(lines[0],
             Contains("worker 1 waits for its own name") && Contains("DISTRIBUTE_BIND_ADDRESS"));
}

TEST_CASE("the address to bind wins over the task's own", "[cluster][own_port]") {
  ClusterOptions options;
  options.bind_address = "127.0.0.1:0";
  const auto listener = open_own_port("worker 1", "pod-1.of-nobody.invalid:2222", options);
  CHECK(listener.address().host == "127.0.0.1");
  options.bind_address = listener.address().text();
  check_throws<FailedPreconditionError>([&] { open_own_port("worker 2", "x:1", options); },
                                        "Address already in use");
}
