#include <distribute/strategy/detail/straggler_watch.hpp>
#include <distribute/strategy/detail/uneven_workers.hpp>

#include <tests/support/catch.hpp>

#include <vector>

using distribute::CpuThrottling;
using namespace distribute::strategy_internal;

namespace {

/// Worker 1 of two is 10 ms late in each of four steps of 20 ms.
const std::vector<float> kOneIsLate = {0.010f, 0.010f, 0.010f, 0.010f,
                                       0.020f, 0.020f, 0.020f, 0.020f};

}  // namespace

TEST_CASE("the worker that costs the others most time is found", "[strategy][uneven_workers]") {
  const std::vector<float> seconds = {0.010f, 0.010f, 0.010f, 0.010f,   // worker 0
                                      0.012f, 0.012f, 0.030f, 0.012f,   // worker 1
                                      0.025f, 0.025f, 0.011f, 0.025f};  // worker 2
  const auto found = find_straggler(seconds, 3, 3);
  REQUIRE(found);
  CHECK(found->worker == 2);
  CHECK(found->share == Approx(0.75));
  CHECK(found->seconds_late == Approx(0.014));  // behind 11 ms
  CHECK(found->step_seconds == Approx((3 * 0.025 + 0.030) / 4));
  CHECK(found->is_worth_naming());
  CHECK(late_text({.late = found, .reason = LateReason::Slow}) ==
        "worker 2 was last in 75 % of steps by 14 ms on average, and the others waited for it: it "
        "had a core and computed longer");
}

TEST_CASE("a late worker is named as its job does, with its address",
          "[strategy][uneven_workers]") {
  const std::vector<std::string> names = {"chief 0 (a:1)", "worker 0 (b:1)", "worker 1 (c:1)"};
  UnevenWorkers uneven;
  uneven.late = Straggler{.worker = 2, .share = 1, .seconds_late = 0.01, .step_seconds = 0.02};
  CHECK_THAT(late_text(uneven, names),
             Catch::Matchers::StartsWith("worker 1 (c:1) was last in 100 % of steps"));
  uneven.throttled = Throttled{.worker = 0, .share = 0.5};
  CHECK_THAT(throttled_text(uneven, names),
             Catch::Matchers::StartsWith("chief 0 (a:1) was stopped by its quota"));
}

TEST_CASE("a worker is as slow as its slowest replica", "[strategy][uneven_workers]") {
  const std::vector<float> seconds = {0.01f, 0.01f, 0.01f, 0.03f};
  const auto found = find_straggler(seconds, 4, 2);
  REQUIRE(found);
  CHECK(found->worker == 1);
  CHECK(found->seconds_late == Approx(0.02));
}

TEST_CASE("steps that a worker does not know do not count", "[strategy][uneven_workers]") {
  CHECK(!find_straggler(std::vector<float>{-1, 0.02f}, 2, 2));
  const auto found = find_straggler(std::vector<float>{-1, 0.02f, 0.09f, 0.01f}, 2, 2);
  REQUIRE(found);
  CHECK(found->worker == 0);
  CHECK(!find_straggler(std::vector<float>{0.02f}, 1, 1));
}

TEST_CASE("a worker that a quota stops now and then counts by the time it costs",
          "[strategy][uneven_workers]") {
  const std::vector<float> seconds = {0.011f, 0.011f, 0.011f, 0.011f,  // last three times, a little
                                      0.010f, 0.010f, 0.010f, 0.060f};  // stopped once
  const auto found = find_straggler(seconds, 2, 2);
  REQUIRE(found);
  CHECK(found->worker == 1);
  CHECK_THAT(
      late_text({.late = found}),
      Catch::Matchers::StartsWith("worker 1 was last in 25 % of steps by 49 ms on average,"));
}

TEST_CASE("workers that cost little are not named", "[strategy][uneven_workers]") {
  const Straggler half{.worker = 1, .share = 0.5, .seconds_late = 0.0015, .step_seconds = 0.02};
  CHECK(!half.is_worth_naming());
  const Straggler always{.worker = 1, .share = 1, .seconds_late = 0.0015, .step_seconds = 0.02};
  CHECK(always.is_worth_naming());
  CHECK_THAT(
      late_text({.late = always}),
      Catch::Matchers::StartsWith("worker 1 was last in 100 % of steps by 1.5 ms on average,"));
  const auto found =
      find_uneven_workers(std::vector<float>{0.0100f, 0.0104f}, std::vector<RankMeasures>(2), 2);
  CHECK(!found.late);
  CHECK(!found.throttled);
  CHECK(late_text(found) == "");
  CHECK(throttled_text(found) == "");
}

TEST_CASE("a worker whose quota runs out is found though all wait for it alike",
          "[strategy][uneven_workers]") {
  const auto worker_of = [](const std::vector<float>& shares, int workers) {
    std::vector<RankMeasures> measures;
    for (const float share : shares) measures.push_back({.throttled = share});
    const auto found = find_throttled(measures, workers);
    return found ? found->worker : -1;
  };
  CHECK(worker_of({0, 0.02f, 0.9f}, 3) == 2);
  CHECK(worker_of({0, 0.02f, 0.9f, 0}, 2) == 1);  // two ranks each
  CHECK(worker_of({0.7f, 0.8f, 0.9f}, 3) == -1);  // all are
  CHECK(worker_of({0, 0.1f}, 2) == -1);
  CHECK(worker_of({0.9f}, 1) == -1);
}

TEST_CASE("a quota is named when all look equally late", "[strategy][uneven_workers]") {
  const std::vector<float> alike = {0.010f, 0.010f};
  const std::vector<RankMeasures> measures = {{}, {.throttled = 0.83f, .on_core = 0.01f}};
  const auto found = find_uneven_workers(alike, measures, 2);
  CHECK(!found.late);
  CHECK(throttled_text(found) ==
        "worker 1 was stopped by its quota of CPU time in 83 % of its periods, and the others "
        "waited for it");
  CHECK(late_text(found) == "");
}

TEST_CASE("a worker that is late by its quota is named once, with both",
          "[strategy][uneven_workers]") {
  const std::vector<RankMeasures> measures = {{}, {.throttled = 0.83f, .waited = 0.01f}};
  const auto found = find_uneven_workers(kOneIsLate, measures, 2);
  CHECK(found.reason == LateReason::Quota);
  CHECK(
      throttled_text(found) ==
      "worker 1 was stopped by its quota of CPU time in 83 % of its periods and was last in 100 % "
      "of steps by 10 ms on average, and the others waited for it");
  CHECK(late_text(found) == "");
}

TEST_CASE("a quota of one worker and the lateness of another are both named",
          "[strategy][uneven_workers]") {
  // Worker 0's quota stops it while all sum gradients; worker 1 computes beside other programs.
  const std::vector<RankMeasures> measures = {{.throttled = 0.99f, .on_core = 0.010f},
                                              {.waited = 0.009f, .on_core = 0.010f}};
  const auto found = find_uneven_workers(kOneIsLate, measures, 2);
  CHECK(found.reason == LateReason::Neighbours);
  CHECK(throttled_text(found) ==
        "worker 0 was stopped by its quota of CPU time in 99 % of its periods, and the others "
        "waited for it");
  CHECK(late_text(found) ==
        "worker 1 was last in 100 % of steps by 10 ms on average, and the others waited for it: "
        "its threads waited for cores that other threads had");
}

TEST_CASE("time on the core tells a slow worker from one that waits",
          "[strategy][uneven_workers]") {
  const auto [worker, reason, text] = GENERATE(table<RankMeasures, LateReason, std::string>(
      {{{.waited = 0.001f, .on_core = 0.019f},
        LateReason::Slow,
        "it had a core and computed longer"},
       {{.waited = 0.010f, .on_core = 0.010f},
        LateReason::Neighbours,
        "its threads waited for cores that other threads had"},
       {{.waited = 0.001f, .on_core = 0.010f},
        LateReason::Waits,
        "it waited for something else than a core, such as its input"}}));
  const std::vector<RankMeasures> measures = {{.waited = 0.001f, .on_core = 0.010f}, worker};
  const auto found = find_uneven_workers(kOneIsLate, measures, 2);
  CHECK(found.reason == reason);
  CHECK(late_text(found) ==
        "worker 1 was last in 100 % of steps by 10 ms on average, and the others waited for it: " +
            text);
}

TEST_CASE("where all workers wait for cores alike, a slow one is slow",
          "[strategy][uneven_workers]") {
  const std::vector<RankMeasures> measures = {{.waited = 0.030f, .on_core = 0.005f},
                                              {.waited = 0.031f, .on_core = 0.015f}};
  CHECK(find_uneven_workers(kOneIsLate, measures, 2).reason == LateReason::Slow);
}

TEST_CASE("what a quota did between two readings", "[strategy][uneven_workers]") {
  const auto stops = [](const auto& before, const auto& now) {
    const QuotaStops found = stops_between(before, now);
    return std::pair(found.share, found.seconds);
  };
  const std::optional<CpuThrottling> none;
  const std::optional<CpuThrottling> early = CpuThrottling{"/a/cpu.stat", 10, 4, 0.5};
  const std::optional<CpuThrottling> late = CpuThrottling{"/a/cpu.stat", 30, 19, 2.5};
  const std::optional<CpuThrottling> other = CpuThrottling{"/b/cpu.stat", 40, 30, 4};
  CHECK(stops(none, none) == std::pair(0.0, 0.0));
  CHECK(stops(early, none) == std::pair(0.0, 0.0));
  CHECK(stops(early, early) == std::pair(0.0, 0.0));
  CHECK(stops(early, late) == std::pair(0.75, 2.0));
  // The process was moved into a group with a quota, from none, and from another one.
  CHECK(stops(none, other) == std::pair(0.75, 4.0));
  CHECK(stops(early, other) == std::pair(0.75, 4.0));
  // A group of the same name was made anew.
  CHECK(stops(other, std::optional(CpuThrottling{"/b/cpu.stat", 20, 10, 1})) ==
        std::pair(0.5, 1.0));
}

TEST_CASE("the same finding is told once in ten minutes, another one soon",
          "[strategy][uneven_workers]") {
  Repetition told;
  CHECK(told.tells(1, LateReason::Slow, 100));
  CHECK(!told.tells(1, LateReason::Slow, 699));
  CHECK(told.tells(1, LateReason::Slow, 700));
  CHECK(!told.tells(2, LateReason::Slow, 705));  // those that change with every comparison
  CHECK(told.tells(2, LateReason::Slow, 710));
  CHECK(told.tells(2, LateReason::Neighbours, 720));
  CHECK(told.tells(1, LateReason::Slow, 730));  // as before the change
}
