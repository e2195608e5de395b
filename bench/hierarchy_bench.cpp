// Times of all-reduces between hosts of several ranks, in network namespaces with limited cables:
// through shared memory within a host, beside all ranks over TCP.
// hierarchy_bench [hosts] [ranks of each] [Mbit/s]      Needs root, iproute2 and util-linux.
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/testing/detail/network_namespaces.hpp>
#include <distribute/testing/process_cluster.hpp>

#include "../tests/support/environment_tasks.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

using namespace distribute;
using namespace distribute::collective;
using Json = nlohmann::json;

namespace {

const std::vector<int64_t> kSizes = {4, 64 << 10, 1 << 20, 8 << 20};
constexpr int kRounds = 5;  // of both ways in turn

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Of all-reduces of `bytes`, on one rank.
double median_seconds(Communicator& group, int64_t bytes) {
  std::vector<float> data(size_t(bytes / 4));
  std::vector<double> times;
  int64_t rounds = 2;
  for (int64_t i = 0; i < rounds; ++i) {
    group.barrier();
    const auto start = std::chrono::steady_clock::now();
    group.all_reduce(data.data(), int64_t(data.size()), DType::Float32);
    times.push_back(seconds_since(start));
    if (i != 1) continue;
    rounds = std::clamp(int64_t(0.3 / times[1]), int64_t(5), int64_t(200));
    group.broadcast(&rounds, 1, DType::Int64, 0);
  }
  return median(times);
}

}  // namespace

/// One host; the argument is its number of ranks, which are threads.
DISTRIBUTE_CLUSTER_MAIN(times_all_reduces) {
  const WorkerGroup group =
      connect_workers(ClusterRuntime::join(tasks_of_environment()), std::stoi(task.argument()));
  std::vector<double> times;
  const auto run = [&](Communicator& rank, bool first) {
    for (int64_t bytes : kSizes) {
      const double seconds = median_seconds(rank, bytes);
      if (first) times.push_back(seconds);
    }
    rank.barrier();
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < group.replicas.size(); ++i)
    others.emplace_back([&, i] { run(*group.replicas[i], false); });
  run(*group.replicas[0], true);
  for (std::thread& other : others) other.join();
  task.set_result(Json({{"transport", group.replicas[0]->transport()}, {"times", times}}).dump());
  group.leave();
}

namespace {

/// Seconds by size, as host 0 saw them.
std::vector<double> measure(const testing::NetworkNamespaces& network, int ranks,
                            const char* transport, const char* expected) {
  testing::ProcessCluster cluster({.workers = network.hosts(),
                                   .function = "times_all_reduces",
                                   .argument = std::to_string(ranks),
                                   .environment = {{"DISTRIBUTE_TRANSPORT", transport}},
                                   .network = &network});
  const Json result = Json::parse(cluster.join()[0].result.value());
  if (result["transport"] != expected)
    throw InternalError(
        str_cat("the ranks use ", result["transport"].get<std::string>(), ", not ", expected));
  return result["times"].get<std::vector<double>>();
}

void compare(int hosts, int ranks, int64_t megabits) {
  const testing::NetworkNamespaces network(
      {.hosts = hosts, .bits_per_second = megabits * 1'000'000});
  std::vector<std::vector<double>> flat, hierarchical;
  for (int round = 0; round < kRounds; ++round) {
    hierarchical.push_back(measure(network, ranks, "auto", "hierarchical"));
    flat.push_back(measure(network, ranks, "tcp", "tcp"));
  }
  const auto of_size = [](const std::vector<std::vector<double>>& rounds, size_t size) {
    std::vector<double> times;
    for (const auto& round : rounds) times.push_back(round[size]);
    return median(times);
  };
  std::printf("%d hosts of %d ranks, cables of %lld Mbit/s\n", hosts, ranks,
              static_cast<long long>(megabits));
  for (size_t s = 0; s < kSizes.size(); ++s) {
    const double one = of_size(flat, s), other = of_size(hierarchical, s);
    std::printf("%10lld bytes  flat %9.3f ms  hierarchical %9.3f ms  flat / hierarchical %5.2f\n",
                static_cast<long long>(kSizes[s]), one * 1e3, other * 1e3, one / other);
  }
}

}  // namespace

int main(int argc, char** argv) {
  testing::run_cluster_function_if_asked();
  const auto argument = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  try {
    compare(argument(1, 2), argument(2, 2), argument(3, 1000));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hierarchy_bench: %s\n", error.what());
    return 1;
  }
}
