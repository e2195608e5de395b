#include <distribute/base/detail/log_once.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/caught_log.hpp>

using namespace distribute;

TEST_CASE("a topic is logged once for each component, whatever the text", "[base][log_once]") {
  CaughtLog log;
  const auto tell = [](const char* component, const char* topic, const char* text) {
    log_internal::log_once(LogSeverity::Warning, component, topic, text);
  };
  tell("test", "speed", "slow");
  tell("test", "speed", "slower");
  tell("other", "speed", "slow there");
  tell("test", "memory", "full");
  CHECK(log.lines.size() == 3);
  CHECK_THAT(log.lines[0], Catch::Contains("warning: slow"));
  CHECK_THAT(log.lines[1], Catch::Contains("slow there"));
  CHECK_THAT(log.lines[2], Catch::Contains("full"));
}
