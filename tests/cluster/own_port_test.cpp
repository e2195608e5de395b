#include <distribute/base/error.hpp>
#include <distribute/cluster/detail/own_port.hpp>
#include <distribute/net/address.hpp>
#include <distribute/net/socket.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using Catch::Matchers::Contains;
using cluster_internal::open_own_port;

TEST_CASE("a task waits for its own name and says so", "[cluster][own_port]") {
  std::vector<std::string> lines;
  ClusterOptions options;
  options.startup_timeout = 5;  // for the first answer on busy cores
  options.report_interval = 0.05;
  options.log = [&](const std::string& line) { lines.push_back(line); };
  check_throws<UnavailableError>(
      [&] { open_own_port("worker 1", "pod-1.unknown.invalid:2222", options); },
      "\"pod-1.unknown.invalid\" is not known");
  REQUIRE(!lines.empty());
  CHECK_THAT(lines[0],
             Contains("worker 1 waits for its own name") && Contains("DISTRIBUTE_BIND_ADDRESS"));
}

TEST_CASE("the address to bind wins over the task's own", "[cluster][own_port]") {
  ClusterOptions options;
  options.bind_address = "127.0.0.1:0";
  const auto listener = open_own_port("worker 1", "pod-1.unknown.invalid:2222", options);
  CHECK(listener.address().host == "127.0.0.1");
  options.bind_address = listener.address().text();
  check_throws<FailedPreconditionError>([&] { open_own_port("worker 2", "x:1", options); },
                                        "Address already in use");
}

// "127.1" is no numeric address to the library, and 127.0.0.1 to the system's resolver: it stands
// for a name that /etc/hosts calls a loopback address.
TEST_CASE("a task whose own name is a loopback address listens where others reach it",
          "[cluster][own_port]") {
  std::vector<std::string> lines;
  ClusterOptions options;
  options.log = [&](const std::string& line) { lines.push_back(line); };
  CHECK(open_own_port("worker 0", "127.1:0", options).address().host == "127.0.0.1");
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0],
             Contains("\"127.1\" is 127.0.0.1 on this host") && Contains("without a job token"));
  options.job_token = std::string(32, 't');
  CHECK(open_own_port("worker 0", "127.1:0", options).address().host == "0.0.0.0");
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[1], Contains("worker 0: \"127.1\" is a loopback address on this host") &&
                           Contains("DISTRIBUTE_BIND_ADDRESS"));
  CHECK(open_own_port("worker 0", "localhost:0", options).address().is_loopback());
  CHECK(open_own_port("worker 0", "127.0.0.1:0", options).address().host == "127.0.0.1");
  CHECK(lines.size() == 2);
}

TEST_CASE("a loopback address among those of other hosts is refused or told",
          "[cluster][own_port]") {
  using cluster_internal::check_loopback;
  std::vector<std::string> lines;
  ClusterOptions options;
  options.log = [&](const std::string& line) { lines.push_back(line); };
  const ClusterMember inside{"worker", 0, "localhost:1"}, other{"worker", 1, "192.0.2.7:1"};
  check_throws<InvalidArgumentError>(
      [&] {
        check_loopback({{inside, other}, 0}, options);
      },
      "worker 0 (localhost:1) has a loopback address, so worker 1 "
      "(192.0.2.7:1), which is on another host (192.0.2.7)");
  CHECK(lines.empty());
  check_loopback({{inside, other}, 1}, options);  // the others may all be on one host
  REQUIRE(lines.size() == 1);
  CHECK_THAT(lines[0], Contains("worker 0 (localhost:1) has a loopback address"));
  check_loopback({{inside, {"worker", 1, "127.0.0.1:2"}, {"worker", 2, ""}}, 0}, options);
  check_loopback({{{"worker", 0, "192.0.2.6:1"}, other}, 0}, options);
  CHECK(lines.size() == 1);
}
