#include <distribute/base/error.hpp>
#include <distribute/base/monitoring.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

using namespace distribute;
using namespace distribute::monitoring;

TEST_CASE("a counter has a cell for each combination of labels", "[base][monitoring]") {
  CollectionRegistry registry;
  Counter& counter =
      registry.counter({.name = "calls", .description = "Calls.", .labels = {"who", "what"}});
  counter.get_cell({"a", "x"}).increment_by(2);
  counter.get_cell({"a", "x"}).increment_by();
  counter.get_cell({"b", "x"}).increment_by(5);
  CHECK(counter.get_cell({"a", "x"}).value() == 3);
  const auto families = registry.collect_metrics();
  REQUIRE(families.size() == 1);
  REQUIRE(families[0].points.size() == 2);
  CHECK(families[0].points[1].labels == std::vector<std::string>{"b", "x"});
  CHECK(families[0].points[1].value == 5);
}

TEST_CASE("no increment of many threads is lost", "[base][monitoring]") {
  CollectionRegistry registry;
  CounterCell& cell = registry.counter({.name = "n", .description = "N."}).get_cell();
  GaugeCell& gauge = registry.gauge({.name = "g", .description = "G."}).get_cell();
  SamplerCell& sampler =
      registry.sampler({.name = "s", .description = "S.", .limits = {0.5, 1.5}}).get_cell();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10'000; ++i) {
        cell.increment_by(2);
        gauge.add(t % 2 ? 1 : -1);
        sampler.add(t % 2);
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(cell.value() == 80'000);
  CHECK(gauge.value() == 0);
  CHECK(sampler.value().counts == std::vector<int64_t>{20'000, 20'000, 0});
  CHECK(sampler.value().sum == 20'000);
}

TEST_CASE("a sampler counts a value at its limit below it", "[base][monitoring]") {
  CollectionRegistry registry;
  SamplerCell& cell =
      registry.sampler({.name = "s", .description = "S.", .limits = exponential_buckets(1, 10, 3)})
          .get_cell();
  for (const double value : {0.5, 1.0, 1.5, 10.0, 99.0, 101.0}) cell.add(value);
  CHECK(cell.value().limits == std::vector<double>{1, 10, 100});
  CHECK(cell.value().counts == std::vector<int64_t>{2, 2, 1, 1});
}

TEST_CASE("a name stands for one metric", "[base][monitoring]") {
  CollectionRegistry registry;
  Counter& first = registry.counter({.name = "a", .description = "A.", .unit = 1e-9});
  CHECK(&registry.counter({.name = "a", .description = "A."}) == &first);
  first.get_cell().increment_by(1'500'000'000);
  CHECK(registry.collect_metrics()[0].points[0].value == 1.5);
  CHECK_THROWS_SAYING(registry.gauge({.name = "a", .description = "A."}), InvalidArgumentError,
                      "is a counter, a gauge was wanted");
  CHECK_THROWS_SAYING(registry.counter({.name = "a", .description = "A.", .labels = {"x"}}),
                      InvalidArgumentError, "other labels");
}

TEST_CASE("names, labels and limits are checked", "[base][monitoring]") {
  CollectionRegistry registry;
  for (const char* name : {"", "1a", "a-b", "a b", "ä"})
    CHECK_THROWS_AS(registry.counter({.name = name, .description = ""}), InvalidArgumentError);
  for (const char* label : {"", "le", "__name__", "a\""})
    CHECK_THROWS_AS(registry.counter({.name = "x", .description = "", .labels = {label}}),
                    InvalidArgumentError);
  CHECK_THROWS_SAYING(registry.sampler({.name = "s", .description = "", .limits = {1, 3, 3}}),
                      InvalidArgumentError, "do not rise after 3");
  Counter& counter = registry.counter({.name = "y", .description = "", .labels = {"l"}});
  CHECK_THROWS_SAYING(counter.get_cell(), InvalidArgumentError, "has 1 labels, 0 values came");
}
