#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/net/socket.hpp>
#include <distribute/testing/detail/network_namespaces.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/launch/running_program.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/skip_without_network.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

using namespace distribute;
using namespace distribute::testing;
using Catch::Matchers::Contains;
using Json = nlohmann::json;
using net::Deadline;
using net::Socket;

namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// "10.77.0.1:2222" of worker 0.
sockaddr_in address_of_first() {
  const Json config = Json::parse(std::getenv("TF_CONFIG"));
  const std::string text = config["cluster"]["worker"][0];
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, text.substr(0, text.find(':')).c_str(), &address.sin_addr);
  address.sin_port = htons(uint16_t(std::stoi(text.substr(text.find(':') + 1))));
  return address;
}

Socket accept_one() {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0), on = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const sockaddr_in address = address_of_first();
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener, 1) != 0)
    throw UnavailableError("cannot listen");
  return Socket(::accept(listener, nullptr, nullptr), "the client");
}

Socket connect_to_first() {
  const sockaddr_in address = address_of_first();
  int connected = -1;
  wait_until(
      [&] {
        connected = ::socket(AF_INET, SOCK_STREAM, 0);
        if (::connect(connected, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
          return true;
        ::close(connected);
        return false;
      },
      "the server listens");
  return Socket(connected, "the server");
}

}  // namespace

DISTRIBUTE_CLUSTER_MAIN(echoes) {
  std::array<std::byte, 8> message{};
  if (task.index() == 0) {
    Socket client = accept_one();
    while (client.read(message, Deadline::after_seconds(200)).ok())
      throw_if_error(client.write(message, Deadline::after_seconds(200)));
    return;
  }
  Socket server = connect_to_first();
  for (int i = 0; i < 1'000'000; ++i) {
    throw_if_error(server.write(message, Deadline::after_seconds(100)));
    while (!server.read(message, Deadline::after_seconds(0.5)).ok()) std::puts("stalled");
    std::printf("echo %d\n", i);
  }
}

/// Worker 1 sends as many bytes as the argument says and waits for one that tells they are there.
DISTRIBUTE_CLUSTER_MAIN(sends_bytes) {
  std::vector<std::byte> bytes(size_t(std::stoll(task.argument())));
  std::array<std::byte, 1> done{};
  const auto deadline = Deadline::after_seconds(100);
  if (task.index() == 0) {
    Socket client = accept_one();
    throw_if_error(client.read(bytes, deadline));
    throw_if_error(client.write(done, deadline));
    (void)client.read(done, deadline);  // until the other side has read it
    return;
  }
  Socket server = connect_to_first();
  const auto begin = std::chrono::steady_clock::now();
  throw_if_error(server.write(bytes, deadline));
  throw_if_error(server.read(done, deadline));
  task.set_result(std::to_string(seconds_since(begin)));
}

TEST_CASE("hosts have their own addresses, names and shared memory",
          "[testing][network_namespaces]") {
  SKIP_WITHOUT_NETWORK();
  const NetworkNamespaces network({.hosts = 3});
  CHECK(network.hosts() == 3);
  CHECK(network.host_of(network.address(2)) == 2);
  CHECK_THROWS_AS(network.host_of("10.0.0.1"), NotFoundError);
  ProcessCluster cluster({.workers = 3,
                          .command = {"sh", "-c",
                                      "ip -4 -o addr show dev eth0; hostname; pwd; "
                                      ": > /dev/shm/$DISTRIBUTE_JOB_TOKEN-$(hostname); "
                                      "ls /dev/shm | wc -l; echo $TF_CONFIG"},
                          .network = &network});
  const auto outcomes = cluster.join();
  for (int host = 0; host < 3; ++host) {
    const std::string& out = outcomes[size_t(host)].out;
    CHECK_THAT(out, Contains(network.address(host) + "/24"));
    CHECK_THAT(out, Contains("host" + std::to_string(host) + "\n"));
    CHECK_THAT(out, Contains(std::filesystem::current_path().string() + "\n1\n"));
    for (int other = 0; other < 3; ++other) CHECK_THAT(out, Contains(network.address(other) + ":"));
  }
}

TEST_CASE("a cut cable stalls a connection and a mended one lets it go on",
          "[testing][network_namespaces]") {
  SKIP_WITHOUT_NETWORK();
  NetworkNamespaces network;
  ProcessCluster cluster({.workers = 2, .function = "echoes", .network = &network});
  const TaskName client{"worker", 1};
  cluster.wait_for_output(client, "echo 10\n");
  network.cut(0);
  cluster.wait_for_output(client, "stalled");
  CHECK(cluster.is_running(client));
  network.mend(0);
  wait_until(
      [&] {
        const std::string text = cluster.output(client);
        return text.find("echo", text.rfind("stalled")) != std::string::npos;
      },
      "the echo comes back");
}

TEST_CASE("packets are lost from one host to one other, until they are not",
          "[testing][network_namespaces]") {
  SKIP_WITHOUT_NETWORK();
  NetworkNamespaces network({.hosts = 3});
  ProcessCluster cluster({.workers = 2, .function = "echoes", .network = &network});
  const TaskName client{"worker", 1};
  cluster.wait_for_output(client, "echo 10\n");
  const auto goes_on_after = [&](const std::string& mark) {
    const std::string text = cluster.output(client);
    return text.find("echo", text.rfind(mark)) != std::string::npos;
  };
  network.drop(1, 2);  // the client does not use that host
  const std::string now = cluster.output(client);
  wait_until([&] { return cluster.output(client).size() > now.size(); }, "the echo goes on");
  network.drop(1, 0);
  cluster.wait_for_output(client, "stalled");
  CHECK(cluster.is_running(client));
  network.stop_dropping(1, 0);
  wait_until([&] { return goes_on_after("stalled"); }, "the echo comes back");
}

TEST_CASE("a bandwidth limit holds", "[testing][network_namespaces]") {
  const NetworkOptions slow{.bits_per_second = 80'000'000};
  SKIP_WITHOUT_NETWORK(slow);
  const int64_t bytes = 5'000'000;
  const auto transfer = [&](const NetworkOptions& options) {
    const NetworkNamespaces network(options);
    ProcessCluster cluster({.workers = 2,
                            .function = "sends_bytes",
                            .argument = std::to_string(bytes),
                            .network = &network});
    return std::stod(cluster.join().at(1).result.value());
  };
  const double limited = transfer(slow), unlimited = transfer({});
  INFO("limited " << limited << " s, unlimited " << unlimited << " s");
  CHECK(limited > 0.45);  // 0.5 s, less what the buckets let through at once
  CHECK(limited < 5);
  CHECK(unlimited < limited);
}

TEST_CASE("a delay is kept", "[testing][network_namespaces]") {
  const NetworkOptions far{.delay_ms = 20};
  SKIP_WITHOUT_NETWORK(far);
  const NetworkNamespaces network(far);
  ProcessCluster cluster(
      {.workers = 2, .function = "sends_bytes", .argument = "1", .network = &network});
  // There and back, over two cables each.
  CHECK(std::stod(cluster.join().at(1).result.value()) >= 0.08);
}

TEST_CASE("networks that cannot be are refused, and the reason is one line",
          "[testing][network_namespaces]") {
  CHECK_THROWS_AS(NetworkNamespaces({.hosts = 0}), InvalidArgumentError);
  CHECK_THROWS_AS(NetworkNamespaces({.hosts = 201}), InvalidArgumentError);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", "/nowhere", 1);
  const std::string reason = NetworkNamespaces::unavailable_reason();
  ::setenv("PATH", path.c_str(), 1);
  CHECK(reason != "");
  CHECK(reason.find('\n') == std::string::npos);
}

TEST_CASE("a network goes with everything in it", "[testing][network_namespaces]") {
  SKIP_WITHOUT_NETWORK();
  std::vector<pid_t> pids;
  {
    const NetworkNamespaces network;
    for (int host = 0; host < 2; ++host) {
      const auto words = network.command(host, {"true"});
      pids.push_back(std::stoi(words.at(2)));  // nsenter -t PID
      CHECK(is_alive(pids.back()));
    }
  }
  check_gone(pids);
}
