#include <distribute/base/logging.hpp>
#include <distribute/base/metrics.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/metrics/metrics_server.hpp>
#include <distribute/net/socket.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/environment_tasks.hpp>
#include <tests/support/no_descriptors.hpp>
#include <tests/support/temporary_directory.hpp>

#include <ctime>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace distribute;

namespace {

net::Socket open(const net::Address& address) {
  auto socket = net::connect(address, net::Deadline::after_seconds(10));
  REQUIRE(socket.ok());
  return *std::move(socket);
}

void say(net::Socket& socket, std::string_view text) {
  REQUIRE(socket.write(std::as_bytes(std::span(text)), net::Deadline::after_seconds(10)).ok());
}

/// All that comes until the other end closes.
std::string hear(net::Socket& socket) {
  std::string text;
  std::byte byte;
  while (socket.read(std::span(&byte, 1), net::Deadline::after_seconds(20)).ok())
    text += char(byte);
  return text;
}

std::string get(const net::Address& address, const std::string& token) {
  net::Socket socket = open(address);
  say(socket, "GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\n\r\n");
  return hear(socket);
}

const net::Address kAnyPort{"127.0.0.1", 0};

}  // namespace

TEST_CASE("the server gives what the registry holds to who has the token",
          "[cluster][metrics_server]") {
  monitoring::default_registry()
      .counter({.name = "server_test_total", .description = "Of this test."})
      .get_cell()
      .increment_by(42);
  const MetricsServer server({.address = kAnyPort, .token = "open sesame"});
  CHECK_THAT(get(server.address(), "open sesame"),
             StartsWith("HTTP/1.1 200 OK\r\n") && Contains("\nserver_test_total 42\n") &&
                 Contains("\ndistribute_train_steps_total ") &&
                 Contains("\nprocess_resident_memory_bytes "));
  CHECK_THAT(get(server.address(), "wrong"), StartsWith("HTTP/1.1 401 "));
}

TEST_CASE("a reader that says nothing does not keep others waiting", "[cluster][metrics_server]") {
  const MetricsServer server({.address = kAnyPort, .token = "t"});
  std::vector<net::Socket> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(open(server.address()));  // more than it keeps
  net::Socket slow = open(server.address());
  say(slow, "GET /metrics HTT");
  CHECK_THAT(get(server.address(), "t"), StartsWith("HTTP/1.1 200 OK"));
  say(slow, "P/1.1\r\nAuthorization: Bearer t\r\n\r\n");
  CHECK_THAT(hear(slow), StartsWith("HTTP/1.1 200 OK"));
}

TEST_CASE("a request without end is cut off", "[cluster][metrics_server]") {
  const MetricsServer server({.address = kAnyPort, .token = "t"});
  net::Socket socket = open(server.address());
  const std::string much(1 << 16, 'x');
  (void)socket.write(std::as_bytes(std::span(much)), net::Deadline::after_seconds(10));
  const std::string reply = hear(socket);  // perhaps nothing: the connection may be reset
  CHECK((reply.empty() || reply.starts_with("HTTP/1.1 431 ")));
  CHECK_THAT(get(server.address(), "t"), StartsWith("HTTP/1.1 200 OK"));
}

TEST_CASE("without a token metrics stay on this machine", "[cluster][metrics_server]") {
  CHECK_THROWS_SAYING(MetricsServer({.address = {"0.0.0.0", 0}}), FailedPreconditionError,
                      "DISTRIBUTE_METRICS_PORT");
  const MetricsServer loopback({.address = kAnyPort});
  CHECK_THAT(get(loopback.address(), ""), StartsWith("HTTP/1.1 200 OK"));
  CHECK_NOTHROW(MetricsServer({.address = {"0.0.0.0", 0}, .insecure = true}));
  CHECK_THROWS_SAYING(MetricsServer({.address = loopback.address()}), FailedPreconditionError,
                      "another process");
}

TEST_CASE("the token is said, or follows from the job's without giving it away",
          "[cluster][metrics_server]") {
  ::unsetenv("DISTRIBUTE_METRICS_TOKEN");
  const std::string derived = metrics_token("job secret");
  CHECK(derived.size() == 64);
  CHECK(derived.find_first_not_of("0123456789abcdef") == derived.npos);
  CHECK(derived == metrics_token("job secret"));
  CHECK(derived != metrics_token("other secret"));
  CHECK(metrics_token("").empty());
  ::setenv("DISTRIBUTE_METRICS_TOKEN", "said", 1);
  CHECK(metrics_token("job secret") == "said");
  ::unsetenv("DISTRIBUTE_METRICS_TOKEN");
}

TEST_CASE("Prometheus's own parser reads every line", "[cluster][metrics_server]") {
  const char* given = std::getenv("DISTRIBUTE_PROMETHEUS_PYTHON");
  const std::string python = given ? given : "python3";
  if (std::system((python + " -c 'import prometheus_client' 2> /dev/null").c_str()) != 0)
    SKIP(
        "there is no prometheus_client (DISTRIBUTE_PROMETHEUS_PYTHON, pip install "
        "prometheus_client)");
  monitoring::metrics().step_seconds.add(0.02);
  monitoring::default_registry()
      .gauge({.name = "odd", .description = "a \"b\" \\ c\nd", .labels = {"l"}})
      .get_cell({"x\"y\\z\nw"})
      .set(5);
  const MetricsServer server({.address = kAnyPort, .token = "t"});
  const std::string answer = get(server.address(), "t");
  const TemporaryDirectory folder;
  std::ofstream(folder / "text") << answer.substr(answer.find("\r\n\r\n") + 4);
  std::ofstream(folder / "check.py") << R"(
import sys
from prometheus_client.parser import text_string_to_metric_families
families = {f.name: f for f in text_string_to_metric_families(open(sys.argv[1]).read())}
assert families["distribute_train_steps"].type == "counter", families["distribute_train_steps"]
steps = families["distribute_step_seconds"]
assert steps.type == "histogram"
values = {(s.name.rsplit("_")[-1], s.labels.get("le")): s.value for s in steps.samples}
assert values["bucket", "+Inf"] == values["count", None] >= 1
odd = families["odd"]
assert odd.documentation == 'a "b" \\ c\nd', odd.documentation
assert odd.samples[0].labels == {"l": 'x"y\\z\nw'}, odd.samples
assert len(families) >= 20, len(families)
)";
  CHECK(std::system((python + " " + (folder / "check.py") + " " + (folder / "text")).c_str()) == 0);
}

/// Joins, and reads its own metrics as Prometheus would.
DISTRIBUTE_CLUSTER_MAIN(metrics_of_a_task) {
  std::string where;
  LogOptions log = log_options();
  log.sink = [&](const std::string& line) {
    if (const size_t at = line.find("http://"); at != line.npos) where = line.substr(at + 7);
  };
  set_log_options(log);
  const auto runtime = ClusterRuntime::join(tasks_of_environment());
  const auto address = net::parse_address(where.substr(0, where.find('/')));
  const std::string text = get(*address, metrics_token(runtime->options().job_token));
  runtime->barrier("read");
  if (!text.starts_with("HTTP/1.1 200")) throw InternalError(text);
  task.set_result(text + get(*address, runtime->options().job_token));
}

TEST_CASE("each task of a job has metrics with its own name",
          "[cluster][metrics_server][multiproc]") {
  testing::ProcessClusterOptions options{
      .workers = 3, .function = "metrics_of_a_task", .deadline_seconds = 300};
  options.environment["DISTRIBUTE_METRICS_PORT"] = "0";
  testing::ProcessCluster cluster(options);
  const auto outcomes = cluster.join();
  for (int i = 0; i < 3; ++i) {
    const std::string text = outcomes[size_t(i)].result.value();
    CHECK_THAT(text, Contains("\ndistribute_task_info{job=\"worker\",index=\"" + std::to_string(i) +
                              "\"} 1\n") &&
                         Contains("\ndistribute_cluster_tasks 3\n") &&
                         Contains("HTTP/1.1 401 "));  // the job's own token does not open it
  }
}

TEST_CASE("without descriptors for readers the server pauses, then goes on",
          "[cluster][metrics_server]") {
  const MetricsServer server({.address = kAnyPort, .token = "t"});
  CHECK_THAT(get(server.address(), "t"), StartsWith("HTTP/1.1 200 OK"));
  const int reader = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::optional<NoDescriptors> none(std::in_place);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(uint16_t(server.address().port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  CHECK(::connect(reader, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  timespec begin{}, end{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  ::poll(nullptr, 0, 500);  // the time in which it must not compute
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  none.reset();
  CHECK(double(end.tv_sec - begin.tv_sec) + double(end.tv_nsec - begin.tv_nsec) * 1e-9 < 0.1);
  ::close(reader);
  CHECK_THAT(get(server.address(), "t"), StartsWith("HTTP/1.1 200 OK"));
}
