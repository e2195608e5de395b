#include <distribute/base/metrics.hpp>
#include <tests/support/catch.hpp>

using namespace distribute::monitoring;

TEST_CASE("a program's own metrics stand beside those of the library", "[base][metrics]") {
  default_registry()
      .counter({.name = "my_total", .description = "Mine."})
      .get_cell()
      .increment_by();
  bool mine = false, ours = false;
  for (const MetricFamily& family : default_registry().collect_metrics()) {
    mine |= family.options.name == "my_total";
    ours |= family.options.name == "distribute_train_steps_total";
  }
  CHECK(mine);
  CHECK(ours);
  CHECK(&metrics().registry == &default_registry());
}

TEST_CASE("the time of a scope is added to what was waited for", "[base][metrics]") {
  CollectionRegistry registry;
  CounterCell& time = registry.counter({.name = "t", .description = ""}).get_cell();
  CounterCell& stalls = registry.counter({.name = "s", .description = ""}).get_cell();
  WaitCells cells(time, stalls);
  const Stopwatch watch;
  {
    const Waiting waiting(cells);
    while (watch.nanoseconds() < 2'000'000) {
    }
  }
  CHECK(time.value() >= 1'000'000);
  CHECK(time.value() <= watch.nanoseconds());
  CHECK(stalls.value() == 0);
}
