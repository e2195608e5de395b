#include <distribute/base/logging.hpp>
#include <tests/support/catch.hpp>

using namespace distribute;

namespace {

LogOptions read(const std::map<std::string, std::string>& variables) {
  for (const char* name : {"DISTRIBUTE_LOG", "DISTRIBUTE_LOG_LEVEL", "TF_CPP_MIN_LOG_LEVEL"})
    ::unsetenv(name);
  for (const auto& [name, value] : variables) ::setenv(name.c_str(), value.c_str(), 1);
  LogOptions options = LogOptions::from_environment();
  for (const auto& [name, value] : variables) ::unsetenv(name.c_str());
  return options;
}

}  // namespace

TEST_CASE("the environment says how the log is written", "[base][log_state]") {
  CHECK(read({}).format == LogFormat::Human);
  CHECK(read({}).min_severity == LogSeverity::Info);
  CHECK(read({{"DISTRIBUTE_LOG", "json"}}).format == LogFormat::Json);
  CHECK(read({{"DISTRIBUTE_LOG_LEVEL", "error"}}).min_severity == LogSeverity::Error);
  CHECK(read({{"DISTRIBUTE_LOG_LEVEL", "1"}}).min_severity == LogSeverity::Warning);
  CHECK(read({{"TF_CPP_MIN_LOG_LEVEL", "2"}}).min_severity == LogSeverity::Error);
  CHECK(read({{"TF_CPP_MIN_LOG_LEVEL", "3"}, {"DISTRIBUTE_LOG_LEVEL", "info"}}).min_severity ==
        LogSeverity::Info);
}

TEST_CASE("what the environment says wrongly comes with the first line", "[base][log_state]") {
  const LogOptions before = log_options();
  LogOptions options = read({{"DISTRIBUTE_LOG", "xml"}, {"DISTRIBUTE_LOG_LEVEL", "loud"}});
  CHECK_THAT(options.problem, Contains("DISTRIBUTE_LOG='xml': wanted human or json") &&
                                  Contains("DISTRIBUTE_LOG_LEVEL='loud': wanted info, warning"));
  std::vector<std::string> lines;
  options.sink = [&](const std::string& line) { lines.push_back(line); };
  set_log_options(options);
  log_info("test", "one");
  log_info("test", "two");
  set_log_options(before);
  REQUIRE(lines.size() == 3);
  CHECK_THAT(lines[0], Contains("warning: DISTRIBUTE_LOG='xml'"));
  CHECK(lines[1] == "distribute: one\n");
}
