#include <distribute/launch/detail/restart_budget.hpp>

#include <tests/support/catch.hpp>

using namespace distribute::launch_internal;
using std::chrono::seconds;

TEST_CASE("pauses before restarts double up to a minute and begin anew after a long run",
          "[launch][restart_budget]") {
  RestartPause pause;
  CHECK(pause.next(0.1) == 0);  // the first is at once
  double whole = 1;
  for (int i = 0; i < 100; ++i, whole = std::min(2 * whole, 60.0)) {
    const double next = pause.next(599);
    CHECK(next >= whole / 2);
    CHECK(next <= whole);
  }
  CHECK(pause.next(600) == 0);
  CHECK(pause.next(0) <= 1);
}

TEST_CASE("restarts are counted in all, or within a time", "[launch][restart_budget]") {
  const RestartBudget::Clock::time_point start{};
  RestartBudget all(2, 0), windowed(2, 10);
  for (RestartBudget* budget : {&all, &windowed}) {
    CHECK(budget->allows(start));
    CHECK(budget->take(start) == 1);
    CHECK(budget->take(start + seconds(5)) == 2);
    CHECK_FALSE(budget->allows(start + seconds(9)));
  }
  CHECK_FALSE(all.allows(start + seconds(1000)));
  CHECK(windowed.allows(start + seconds(11)));
  CHECK(windowed.take(start + seconds(11)) == 2);
  CHECK(windowed.total() == 3);
  CHECK_FALSE(RestartBudget(0, 0).allows(start));
}
