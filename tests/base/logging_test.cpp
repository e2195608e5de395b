#include <distribute/base/logging.hpp>
#include <distribute/base/metrics.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/caught_log.hpp>

#include <regex>

#include <nlohmann/json.hpp>

using namespace distribute;
using Json = nlohmann::json;

TEST_CASE("people get the level and the message", "[base][logging]") {
  CaughtLog log(LogFormat::Human);
  log_info("cluster", "all are here");
  log_warning("data", "this is slow", {{"picture", 7}});
  log_error("train", "this went wrong");
  distribute::log(LogSeverity::Fatal, "trainer", "this ends it");
  log_report(LogSeverity::Error, "collective", "line 1\n  line 2\n");
  CHECK(log.lines == std::vector<std::string>{"distribute: all are here\n",
                                              "warning: this is slow\n", "error: this went wrong\n",
                                              "error: this ends it\n", "line 1\n  line 2\n"});
}

TEST_CASE("programs get one JSON object a line", "[base][logging]") {
  CaughtLog log(LogFormat::Json);
  log_warning("checkpoint", "disk \"full\"\n\x01",
              {{"path", "/a\\b"},
               {"step", 100},
               {"share", 0.25},
               {"again", true},
               {"nothing", std::numeric_limits<double>::infinity()}});
  log_report(LogSeverity::Error, "collective", "line 1\nline 2\n");
  REQUIRE(log.lines.size() == 2);
  for (const std::string& line : log.lines) CHECK(line.find('\n') == line.size() - 1);
  const Json first = Json::parse(log.lines[0]), second = Json::parse(log.lines[1]);
  CHECK(std::regex_match(first["time"].get<std::string>(),
                         std::regex("20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z")));
  CHECK(first["level"] == "warning");
  CHECK(first["task"] == "worker 2");
  CHECK(first["component"] == "checkpoint");
  CHECK(first["message"] == "disk \"full\"\n\x01");
  CHECK(first["fields"] == Json({{"path", "/a\\b"},
                                 {"step", 100},
                                 {"share", 0.25},
                                 {"again", true},
                                 {"nothing", nullptr}}));
  CHECK(second["message"] == "line 1\nline 2\n");
  CHECK(!second.contains("fields"));
}

TEST_CASE("bytes that are not UTF-8 do not break the object", "[base][logging]") {
  const auto through = [](const std::string& text) {
    return Json::parse(log_internal::json_string(text)).get<std::string>();
  };
  CHECK(through("gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80") ==
        "gr\xC3\xBC\xC3\x9F \xE2\x82\xAC \xF0\x9F\x98\x80");
  const std::string replaced = "\xEF\xBF\xBD";
  CHECK(through("a\xFFz") == "a" + replaced + "z");
  CHECK(through("\xC3") == replaced);                                // cut
  CHECK(through("\xC0\xAF") == replaced + replaced);                 // overlong
  CHECK(through("\xED\xA0\x80") == replaced + replaced + replaced);  // surrogate
  CHECK(through("\xF4\x90\x80\x80").size() == 4 * replaced.size());  // beyond Unicode
  for (int byte = 0; byte < 256; ++byte)
    CHECK_NOTHROW(through(std::string("x") + char(byte) + "y"));
}

TEST_CASE("what is below the level is not written, but counted", "[base][logging]") {
  CaughtLog log(LogFormat::Human, LogSeverity::Error);
  monitoring::CounterCell& warnings = monitoring::metrics().log_lines.get_cell({"warning"});
  const int64_t before = warnings.value();
  log_info("a", "no");
  log_warning("a", "no");
  log_error("a", "yes");
  CHECK(log.lines == std::vector<std::string>{"error: yes\n"});
  CHECK(warnings.value() == before + 1);
}

TEST_CASE("lines of many threads do not mix", "[base][logging]") {
  CaughtLog log(LogFormat::Json);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 100; ++i) log_info("test", std::string(200, char('a' + t)));
    });
  for (std::thread& thread : threads) thread.join();
  REQUIRE(log.lines.size() == 400);
  for (const std::string& line : log.lines) CHECK(Json::accept(line));
}
