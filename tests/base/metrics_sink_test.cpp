#include <distribute/base/metrics.hpp>

#include "../support/catch.hpp"

TEST_CASE("sinks are started with the host, the latest of a name alone", "[base][metrics_sink]") {
  std::vector<std::string> started;
  using distribute::monitoring::register_metrics_sink;
  register_metrics_sink("test", [&](const std::string& host) { started.push_back("old " + host); });
  register_metrics_sink("test", [&](const std::string& host) { started.push_back("new " + host); });
  distribute::monitoring::start_metrics_sinks("127.0.0.9");
  register_metrics_sink("test", [](const std::string&) {});
  CHECK(started == std::vector<std::string>{"new 127.0.0.9"});
}
