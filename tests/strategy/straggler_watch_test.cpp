#include <distribute/strategy/detail/straggler_watch.hpp>

#include <tests/support/catch.hpp>

#include <vector>

using namespace distribute;
using namespace distribute::strategy_internal;

TEST_CASE("the worker that costs the others most time is found", "[strategy][straggler_watch]") {
  const std::vector<float> seconds = {0.010f, 0.010f, 0.010f, 0.010f,   // worker 0
                                      0.012f, 0.012f, 0.030f, 0.012f,   // worker 1
                                      0.025f, 0.025f, 0.011f, 0.025f};  // worker 2
  const auto found = find_straggler(seconds, 3, 3);
  REQUIRE(found);
  CHECK(found->worker == 2);
  CHECK(found->share == Approx(0.75));
  CHECK(found->seconds_late == Approx(0.014));  // behind 11 ms
  CHECK(found->step_seconds == Approx((3 * 0.025 + 0.030) / 4));
  CHECK(straggler_text(*found) == "worker 2 was last in 75 % of steps by 14 ms on average");
}

TEST_CASE("a worker is as slow as its slowest replica", "[strategy][straggler_watch]") {
  const std::vector<float> seconds = {0.01f, 0.01f, 0.01f, 0.03f};
  const auto found = find_straggler(seconds, 4, 2);
  REQUIRE(found);
  CHECK(found->worker == 1);
  CHECK(found->seconds_late == Approx(0.02));
}

TEST_CASE("steps that a worker does not know do not count", "[strategy][straggler_watch]") {
  CHECK(!find_straggler(std::vector<float>{-1, 0.02f}, 2, 2));
  const auto found = find_straggler(std::vector<float>{-1, 0.02f, 0.09f, 0.01f}, 2, 2);
  REQUIRE(found);
  CHECK(found->worker == 0);
  CHECK(!find_straggler(std::vector<float>{0.02f}, 1, 1));
}

TEST_CASE("a worker that a quota stops now and then counts by the time it costs",
          "[strategy][straggler_watch]") {
  const std::vector<float> seconds = {0.011f, 0.011f, 0.011f, 0.011f,  // last three times, a little
                                      0.010f, 0.010f, 0.010f, 0.060f};  // stopped once
  const auto found = find_straggler(seconds, 2, 2);
  REQUIRE(found);
  CHECK(found->worker == 1);
  CHECK(straggler_text(*found) == "worker 1 was last in 25 % of steps by 49 ms on average");
}

TEST_CASE("workers that cost little are not named", "[strategy][straggler_watch]") {
  CHECK(straggler_text({.worker = 1, .share = 0.5, .seconds_late = 0.0015, .step_seconds = 0.02}) ==
        "");
  CHECK(straggler_text({.worker = 1, .share = 1, .seconds_late = 0.0015, .step_seconds = 0.02}) ==
        "worker 1 was last in 100 % of steps by 1.5 ms on average");
}

TEST_CASE("a worker whose quota runs out is found though all wait for it alike",
          "[strategy][straggler_watch]") {
  CHECK(find_throttled(std::vector<float>{0, 0.02f, 0.9f}, 3, 3) == 2);
  CHECK(find_throttled(std::vector<float>{0, 0.02f, 0.9f, 0}, 4, 2) == 1);  // two ranks each
  CHECK(!find_throttled(std::vector<float>{0.7f, 0.8f, 0.9f}, 3, 3));       // all are
  CHECK(!find_throttled(std::vector<float>{0, 0.1f}, 2, 2));
  CHECK(!find_throttled(std::vector<float>{0.9f}, 1, 1));
}
