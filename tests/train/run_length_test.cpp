#include <distribute/train/run_report.hpp>

#include <tests/support/catch.hpp>

using namespace distribute::train;

TEST_CASE("epochs are rounded to whole steps, at least one", "[train][run_length]") {
  CHECK(steps_of_epochs(3, 9000, 50) == 540);
  CHECK(steps_of_epochs(1, 1000, 300) == 3);
  CHECK(steps_of_epochs(0.0001, 9000, 50) == 1);
}

TEST_CASE("the warm-up takes a tenth of the steps at most", "[train][run_length]") {
  CHECK(warmup_steps_of_epochs(5, 1000, 10, 90 * 100) == 500);
  CHECK(warmup_steps_of_epochs(5, 1000, 10, 1000) == 100);
  CHECK(warmup_steps_of_epochs(5, 1000, 10, 5) == 0);
  CHECK(warmup_steps_of_epochs(0, 1000, 10, 1000) == 0);
}
