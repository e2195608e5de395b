#include <distribute/base/error.hpp>
#include <distribute/metrics/metrics_server.hpp>
#include <distribute/net/socket.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::monitoring;

TEST_CASE("a reader gets a server's metrics with its token", "[metrics][metrics_reader]") {
  const MetricsServer server({.address = {"127.0.0.1", 0}, .token = "open sesame"});
  const std::string text = read_metrics(server.address(), "open sesame");
  CHECK_THAT(text, Contains("process_resident_memory_bytes "));
  const MetricSample sample = parse_prometheus_text(text, 1);
  CHECK(sample.value("process_resident_memory_bytes").value_or(0) > 0);
  CHECK_THROWS_SAYING(read_metrics(server.address(), "wrong"), UnauthenticatedError, "401");
}

TEST_CASE("a task that is not there is unavailable to readers", "[metrics][metrics_reader]") {
  net::Address gone;
  {
    const auto deadline = net::Deadline::after_seconds(5);
    gone = net::Listener::bind({"127.0.0.1", 0}, deadline)->address();
  }
  CHECK_THROWS_AS(read_metrics(gone, "", 5), UnavailableError);
}

TEST_CASE("values and labels are found in Prometheus's text", "[metrics][metrics_reader]") {
  const MetricSample sample = parse_prometheus_text(
      "# HELP steps_total Steps.\nsteps_total 1.5e3\nwait_seconds_total{for=\"input\"} 0.25\n"
      "step_seconds_bucket{le=\"0.1\"} 7\ntask_info{index=\"2\",job=\"worker\"} 1\nno number\n",
      3);
  CHECK(sample.values.size() == 3);
  CHECK(sample.value("steps_total") == 1500);
  CHECK(sample.value("wait_seconds_total{for=\"input\"}") == 0.25);
  CHECK_FALSE(sample.value("wait_seconds_total"));
  CHECK(sample.label("task_info", "job") == "worker");
  CHECK(sample.label("task_info", "host") == "");
  CHECK(sample.label("steps_total", "job") == "");
}

TEST_CASE("a rate needs two readings of the same task", "[metrics][metrics_reader]") {
  const auto at = [](double seconds, int value) {
    return parse_prometheus_text("a_total " + std::to_string(value) + "\n", seconds);
  };
  CHECK(rate(at(1, 10), at(3, 50), "a_total") == 20);
  CHECK_FALSE(rate(at(1, 10), at(3, 5), "a_total"));  // a new task
  CHECK_FALSE(rate({}, at(3, 5), "a_total"));
  CHECK_FALSE(rate(at(1, 10), at(3, 50), "b_total"));
  CHECK(rate(parse_prometheus_text("b 1\n", 1), at(3, 50), "a_total") == 25);  // it came since
}
