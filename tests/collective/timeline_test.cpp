#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/detail/window_transport.hpp>
#include <distribute/collective/timeline.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/comma_locale.hpp>
#include <tests/support/temporary_directory.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

#include <nlohmann/json.hpp>

using namespace distribute;
using namespace distribute::collective;
using Json = nlohmann::json;
using std::chrono::microseconds;

namespace {

Timeline::Clock::time_point at(int us) { return Timeline::Clock::time_point(microseconds(us)); }

Json events_of(const Timeline& timeline, int task = 0, const std::string& name = "worker 0",
               std::chrono::nanoseconds offset = {}) {
  return Json::parse("[" + timeline.events(task, name, offset) + "]");
}

std::vector<Json> spans_of(const Json& events) {
  std::vector<Json> spans;
  for (const Json& event : events)
    if (event.at("ph") == "X") spans.push_back(event);
  return spans;
}

}  // namespace

TEST_CASE("a timeline names its task and rows and gives spans by their beginning",
          "[collective][timeline]") {
  Timeline timeline("");
  const int steps = timeline.add_row("steps"), other = timeline.add_row("a \"row\"");
  timeline.add(steps, "second", at(20), at(25));
  timeline.add(other, "inner", at(12), at(13));
  timeline.add(steps, "first", at(10), at(15));
  const Json events = events_of(timeline, 3, "worker 3 (host-b:2222)", microseconds(1000));
  CHECK(events.at(0).at("name") == "process_name");
  CHECK(events[0].at("args").at("name") == "worker 3 (host-b:2222)");
  CHECK(events.at(2).at("name") == "thread_name");
  CHECK(events[2].at("args").at("name") == "a \"row\"");
  const auto spans = spans_of(events);
  REQUIRE(spans.size() == 3);
  CHECK(spans[0].at("name") == "first");
  CHECK(spans[0].at("ts") == 1010.0);
  CHECK(spans[0].at("dur") == 5.0);
  CHECK(spans[1].at("tid") == other);
  CHECK(spans[2].at("name") == "second");
  for (const Json& event : events) CHECK(event.at("pid") == 3);
}

TEST_CASE("a timeline is JSON under a locale with a comma", "[collective][timeline]") {
  const CommaLocale locale;
  Timeline timeline("");
  timeline.add(timeline.add_row("row"), "span", at(1) + std::chrono::nanoseconds(500), at(20'000));
  const auto spans = spans_of(events_of(timeline));
  REQUIRE(spans.size() == 1);
  CHECK(spans[0].at("ts") == 1.5);
  CHECK(spans[0].at("dur") == 19'998.5);
}

TEST_CASE("a timeline keeps the last spans only", "[collective][timeline]") {
  Timeline timeline("", 3);
  const int row = timeline.add_row("row");
  for (int i = 0; i < 8; ++i) timeline.add(row, std::to_string(i), at(i), at(i + 1));
  const auto spans = spans_of(events_of(timeline));
  REQUIRE(spans.size() == 3);
  CHECK(spans[0].at("name") == "5");
  CHECK(spans[2].at("name") == "7");
}

TEST_CASE("without the variable there is no timeline, and a span of none does nothing",
          "[collective][timeline]") {
  ::unsetenv("DISTRIBUTE_TIMELINE");
  CHECK(Timeline::from_environment() == nullptr);
  ::setenv("DISTRIBUTE_TIMELINE", "/tmp/x.json", 1);
  CHECK(Timeline::from_environment() != nullptr);
  ::unsetenv("DISTRIBUTE_TIMELINE");
  const TimelineSpan span(nullptr, 0, "nothing");
}

TEST_CASE("a communicator tells its timeline every operation, also the one that fails",
          "[collective][timeline]") {
  auto transports = make_thread_transports(2);
  const auto timeline = std::make_shared<Timeline>("");
  {
    Communicator first(std::move(transports[0]),
                       {.timeline = timeline, .timeline_row = "the first rank"});
    Communicator second(std::move(transports[1]));
    float a = 1, b = 2;
    std::thread other([&] {
      second.all_reduce(&b, 1, DType::Float32);
      second.barrier();
      second.abort(StatusCode::Aborted, "the end");
    });
    first.all_reduce_async(&a, &a, 1, DType::Float32).wait();
    first.barrier();
    CHECK_THROWS_AS(first.barrier(), Error);
    other.join();
  }
  const Json events = events_of(*timeline);
  CHECK(events.at(1).at("args").at("name") == "the first rank");
  const auto spans = spans_of(events);
  REQUIRE(spans.size() == 3);
  CHECK(spans[0].at("name") == "all_reduce(sum) #1 float32 x 1");
  CHECK(spans[0].at("args").at("bytes") == 4);
  CHECK(spans[0].at("args").at("queued_us") > 0);
  CHECK_FALSE(spans[1].at("args").contains("failed"));
  CHECK(spans[2].at("args").at("failed") == true);
  for (size_t i = 1; i < spans.size(); ++i)
    CHECK(spans[i].at("ts").get<double>() >=
          spans[i - 1].at("ts").get<double>() + spans[i - 1].at("dur").get<double>() - 0.002);
}

TEST_CASE("a file holds the events of all tasks", "[collective][timeline]") {
  const TemporaryDirectory directory;
  const Timeline writer(directory / "trace.json");
  Timeline other("");
  other.add(other.add_row("row"), "span", at(1), at(2));
  const std::vector<std::string> all{writer.events(0, "worker 0", {}),
                                     other.events(1, "worker 1", {})};
  writer.save(all);
  std::ifstream file(directory / "trace.json");
  const auto trace = Json::parse(std::string(std::istreambuf_iterator<char>(file), {}));
  CHECK(trace.at("traceEvents").size() == 1 + 3);
  CHECK(trace["traceEvents"].back().at("pid") == 1);
}
