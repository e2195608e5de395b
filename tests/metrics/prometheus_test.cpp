#include <distribute/metrics/metrics_server.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/comma_locale.hpp>

using namespace distribute::monitoring;

TEST_CASE("counters and gauges are written with HELP, TYPE and labels", "[base][prometheus]") {
  CollectionRegistry registry;
  Counter& bytes = registry.counter(
      {.name = "bytes_total", .description = "Bytes.", .labels = {"transport", "direction"}});
  bytes.get_cell({"tcp", "sent"}).increment_by(12);
  bytes.get_cell({"shm", "sent"}).increment_by(7);
  registry.gauge({.name = "length", .description = "Length."}).get_cell().set(-3);
  registry.counter({.name = "unused", .description = "No cell yet."});
  CHECK(prometheus_text(registry.collect_metrics()) ==
        "# HELP bytes_total Bytes.\n"
        "# TYPE bytes_total counter\n"
        "bytes_total{transport=\"shm\",direction=\"sent\"} 7\n"
        "bytes_total{transport=\"tcp\",direction=\"sent\"} 12\n"
        "# HELP length Length.\n"
        "# TYPE length gauge\n"
        "length -3\n");
}

TEST_CASE("a sampler becomes a histogram whose buckets add up", "[base][prometheus]") {
  CollectionRegistry registry;
  Sampler& sampler =
      registry.sampler({.name = "t", .description = "T.", .labels = {"of"}, .limits = {0.1, 2.5}});
  for (const double value : {0.25, 0.25, 0.05, 3.0}) sampler.get_cell({"x"}).add(value);
  CHECK(prometheus_text(registry.collect_metrics()) ==
        "# HELP t T.\n"
        "# TYPE t histogram\n"
        "t_bucket{of=\"x\",le=\"0.1\"} 1\n"
        "t_bucket{of=\"x\",le=\"2.5\"} 3\n"
        "t_bucket{of=\"x\",le=\"+Inf\"} 4\n"
        "t_sum{of=\"x\"} 3.55\n"
        "t_count{of=\"x\"} 4\n");
}

TEST_CASE("HELP and label values are escaped as the format wants it", "[base][prometheus]") {
  const MetricFamily family{
      .options = {.name = "m", .description = "a \"b\" \\ c\nd", .labels = {"l"}},
      .kind = MetricKind::Gauge,
      .points = {{.labels = {"x\"y\\z\nw"}, .value = 1}}};
  CHECK(prometheus_text({family}) ==
        "# HELP m a \"b\" \\\\ c\\nd\n"
        "# TYPE m gauge\n"
        "m{l=\"x\\\"y\\\\z\\nw\"} 1\n");
}

TEST_CASE("numbers keep all their digits", "[base][prometheus]") {
  const double infinite = std::numeric_limits<double>::infinity();
  const auto text = [](double value) {
    return prometheus_text(
        {{{.name = "m", .description = ""}, MetricKind::Gauge, {{.value = value}}}});
  };
  CHECK_THAT(text(0.1), Contains("\nm 0.1\n"));
  CHECK_THAT(text(1e-9 * 3), Contains("\nm 3e-09\n") || Contains("\nm 3.0000000000000004e-09\n"));
  CHECK_THAT(text(9007199254740993.0), Contains("\nm 9007199254740992\n"));
  CHECK_THAT(text(infinite), Contains("\nm +Inf\n"));
  CHECK_THAT(text(-infinite), Contains("\nm -Inf\n"));
  CHECK_THAT(text(std::nan("")), Contains("\nm NaN\n"));
}

TEST_CASE("numbers have a decimal point under a locale with a comma", "[base][prometheus]") {
  const CommaLocale locale;
  CollectionRegistry registry;
  registry.sampler({.name = "t", .description = "T.", .limits = {0.5}}).get_cell().add(1234.25);
  CHECK_THAT(prometheus_text(registry.collect_metrics()),
             Contains("t_bucket{le=\"0.5\"} 0\n") && Contains("t_sum 1234.25\n"));
  for (const MetricFamily& family : process_metrics())
    CHECK_THAT(prometheus_text({family}), !Contains(","));
}

TEST_CASE("the process's own figures are there", "[base][prometheus]") {
  const auto value = [](const std::string& name) {
    for (const MetricFamily& family : process_metrics())
      if (family.options.name == name) return family.points.at(0).value;
    FAIL("no " << name);
    return 0.0;
  };
  const double before = value("process_resident_memory_bytes");
  const std::vector<char> pages(64 << 20, 'x');
  CHECK(value("process_resident_memory_bytes") > before + (48 << 20));
  CHECK(pages[12345] == 'x');
  CHECK(value("process_virtual_memory_bytes") > value("process_resident_memory_bytes"));
  CHECK(value("process_open_fds") >= 3);
  CHECK(value("process_max_fds") >= value("process_open_fds"));
  CHECK(value("process_threads") >= 1);
  CHECK(value("process_start_time_seconds") > 1.6e9);
  CHECK(value("process_cpu_seconds_total") > 0);
  CHECK(value("distribute_usable_cores") > 0);
}
