#include <distribute/cluster/detail/network_lines.hpp>

#include <tests/cluster/cluster_support.hpp>

#include <mutex>

#include <nlohmann/json.hpp>

using distribute::NetworkLine;

TEST_CASE("three tasks know how fast each pair of them is", "[cluster][network_lines]") {
  std::mutex mutex;
  std::vector<std::vector<NetworkLine>> known;
  const auto errors = run_job(3, [&](ClusterRuntime& runtime) {
    const auto mine = measure_network_lines(runtime);
    const auto all = gather_network_lines(runtime, mine);
    const std::lock_guard lock(mutex);
    known.push_back(all);
  });
  for (const std::string& error : errors) CHECK(error == "");
  REQUIRE(known.size() == 3);
  for (const auto& lines : known) {
    REQUIRE(lines.size() == 3);  // 0 - 1, 0 - 2, 1 - 2
    for (const NetworkLine& line : lines) {
      CHECK(line.from < line.to);
      CHECK(line.problem == "");
      CHECK(line.one_host);
      CHECK(line.latency_p50 > 0);
      CHECK(line.latency_p99 >= line.latency_p50);
      CHECK(std::min(line.forth, line.back) > 1e6);
      CHECK(line.mtu > 1000);
      CHECK(line.lost_share < 0.5);
      CHECK(NetworkLine::from_json(line.json()).forth == line.forth);
    }
  }
}

TEST_CASE("pairs of which one has not reached the other are left out", "[cluster][network_lines]") {
  std::vector<NetworkLine> first;
  const auto errors = run_job(2, [&](ClusterRuntime& runtime) {
    const auto mine = measure_network_lines(runtime, {{}, {0}});
    if (runtime.rank() == 0) first = mine;
  });
  for (const std::string& error : errors) CHECK(error == "");
  CHECK(first.empty());
}
