#include <distribute/base/detail/library_metrics.hpp>
#include <tests/support/catch.hpp>

using namespace distribute::monitoring;

namespace {

const MetricFamily* find(const std::vector<MetricFamily>& families, const std::string& name) {
  const auto found = std::find_if(families.begin(), families.end(),
                                  [&](const auto& family) { return family.options.name == name; });
  return found == families.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("names say the library, counters end in total, all have a sentence",
          "[base][library_metrics]") {
  const LibraryMetrics metrics;
  const auto families = metrics.registry.collect_metrics();
  CHECK(families.size() ==
        4);  // those of the folders above are in tests/train/library_metrics_test
  for (const MetricFamily& family : families) {
    INFO(family.options.name);
    CHECK(family.options.name.starts_with("distribute_"));
    CHECK(family.options.name.ends_with("_total") == (family.kind == MetricKind::Counter));
    CHECK(family.options.description.ends_with("."));
  }
}

TEST_CASE("the first step has no time before it", "[base][library_metrics]") {
  LibraryMetrics metrics;
  for (int i = 0; i < 3; ++i) metrics.count_step();
  const auto families = metrics.registry.collect_metrics();
  CHECK(find(families, "distribute_train_steps_total")->points.at(0).value == 3);
  int64_t times = 0;
  for (const int64_t count : metrics.step_seconds.value().counts) times += count;
  CHECK(times == 2);
  CHECK(find(families, "distribute_build_info")->points.at(0).value == 1);
}

TEST_CASE("a wait of more than a second is a stall", "[base][library_metrics]") {
  CollectionRegistry registry;
  WaitCells input = MetricMaker{registry}.wait("input");
  input.add(400'000'000);
  input.add(1'100'000'000);
  MetricMaker{registry}.wait("collective").add(1);
  const auto families = registry.collect_metrics();
  const auto value = [&](const char* name, const std::string& label) {
    for (const auto& point : find(families, name)->points)
      if (point.labels.at(0) == label) return point.value;
    return -1.0;
  };
  CHECK(value("distribute_wait_seconds_total", "input") == Approx(1.5));
  CHECK(value("distribute_stalls_total", "input") == 1);
  CHECK(value("distribute_wait_seconds_total", "collective") == Approx(1e-9));
  CHECK(value("distribute_stalls_total", "collective") == 0);
}
