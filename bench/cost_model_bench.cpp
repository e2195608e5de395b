// Times of all-reduces between network namespaces with limited cables, beside the cost model's.
// cost_model_bench [most hosts [fewest hosts]]      Needs root, iproute2 and util-linux.
// "Sent again": the share of TCP segments that the first host's cable dropped.
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/collective/detail/message_algorithms.hpp>
#include <distribute/collective/detail/tcp_messages.hpp>
#include <distribute/collective/detail/tree_reduction.hpp>
#include <distribute/testing/detail/network_namespaces.hpp>
#include <distribute/testing/process_cluster.hpp>

#include "../tests/support/environment_tasks.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace distribute;
using namespace distribute::collective;
using Json = nlohmann::json;
using Algorithm = AllReduceAlgorithm;

namespace {

constexpr int64_t kSegmentBytes = 512 << 10;
const std::vector<Algorithm> kAlgorithms = {Algorithm::Exchange, Algorithm::Doubling,
                                            Algorithm::Direct, Algorithm::Halving};
const std::vector<int64_t> kSizes = {4, 16 << 10, 256 << 10, 1 << 20, 4 << 20};

/// One rank, with four connections to each other as workers of a job have.
class Rank {
 public:
  explicit Rank(ClusterRuntime& runtime)
      : messages_(runtime.rank(), flows(runtime), -1),
        exchange_(messages_, {.latency = 1e6}, kSegmentBytes),
        plan_(TreePlan::of_ranks(messages_.size(), messages_.rank())) {}

  void all_reduce(Algorithm algorithm, float* data, int64_t count, const LinkCosts& costs) {
    const Operation operation = begin({.kind = Collective::AllReduce,
                                       .dtype = DType::Float32,
                                       .count = count,
                                       .input = data,
                                       .output = data});
    switch (algorithm) {
      case Algorithm::Exchange: return exchange_.run(operation);
      case Algorithm::Doubling: return reduce_by_doubling(messages_, scratch_, operation);
      case Algorithm::Direct:
        return DirectReduction(messages_, scratch_, operation, kSegmentBytes).run();
      default: break;
    }
    TreeReduction(messages_, scratch_, plan_, operation,
                  section_bytes(messages_.size(), costs, kSegmentBytes))
        .run();
  }
  void barrier() { exchange_.run(begin({.kind = Collective::Barrier})); }
  void broadcast(int64_t& number) {
    exchange_.run(begin(
        {.kind = Collective::Broadcast, .dtype = DType::Int64, .count = 1, .output = &number}));
  }
  /// Half the time of a small message to rank 1 and back.
  double one_way_seconds(int rounds) {
    const int rank = messages_.rank();
    float x = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds && rank < 2; ++i)
      for (int step = 0; step < 2; ++step) {
        const auto kind = step == rank ? Collective::Send : Collective::Receive;
        exchange_.run(begin({.kind = kind,
                             .dtype = DType::Float32,
                             .count = 1,
                             .peer = 1 - rank,
                             .input = &x,
                             .output = &x}));
      }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() /
           (2 * rounds);
  }

 private:
  static std::vector<std::vector<net::Socket>> flows(ClusterRuntime& runtime) {
    std::vector<std::vector<net::Socket>> result(size_t(runtime.size()));
    for (int peer = 0; peer < runtime.size(); ++peer)
      for (int i = 0; i < 4 && peer != runtime.rank(); ++i)
        result[size_t(peer)].push_back(runtime.peer_socket(peer, "bench", i));
    return result;
  }
  Operation begin(Operation operation) {
    const bool pair = operation.kind == Collective::Send || operation.kind == Collective::Receive;
    operation.sequence = pair ? 0 : ++sequence_;
    operation.deadline = net::Deadline::after_seconds(60);
    messages_.begin(operation);
    return operation;
  }

  TcpMessages messages_;
  MessageAlgorithms exchange_;
  const TreePlan plan_;
  Scratch scratch_;
  uint64_t sequence_ = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double median_seconds(Rank& rank, const std::function<void()>& body) {
  std::vector<double> times;
  int64_t rounds = 3;
  for (int64_t i = 0; i < rounds; ++i) {
    rank.barrier();
    const auto start = std::chrono::steady_clock::now();
    body();
    times.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    if (i != 0) continue;
    rounds = std::clamp(int64_t(0.5 / times[0]), int64_t(3), int64_t(200));
    rank.broadcast(rounds);
  }
  return median(times);
}

/// TCP segments that this host has sent, and those of them that it sent again.
std::pair<double, double> sent_segments() {
  std::ifstream file("/proc/self/net/snmp");
  std::string names, numbers;
  while (std::getline(file, names) && names.rfind("Tcp:", 0) != 0) continue;
  std::getline(file, numbers);
  std::istringstream name_list(names), number_list(numbers);
  std::map<std::string, double> values;
  for (std::string name, number; name_list >> name && number_list >> number;)
    values[name] = std::atof(number.c_str());
  return {values["OutSegs"], values["RetransSegs"]};
}

}  // namespace

/// The argument is the bandwidth of a cable in bit/s.
DISTRIBUTE_CLUSTER_MAIN(times_all_reduces) {
  // Of a packet of 1,514 bytes 1,448 are ours.
  LinkCosts costs{.bytes_per_second = std::stod(task.argument()) / 8 * 1448 / 1514};
  const auto runtime = ClusterRuntime::join(tasks_of_environment());
  Rank rank(*runtime);
  for (int i = 0; i < 3; ++i) costs.latency = rank.one_way_seconds(300) - 2 * costs.per_message;
  Json rows = Json::array();
  std::vector<float> data(size_t(kSizes.back() / 4));
  for (int64_t bytes : kSizes)
    for (Algorithm algorithm : kAlgorithms) {
      const auto before = sent_segments();
      const double measured =
          median_seconds(rank, [&] { rank.all_reduce(algorithm, data.data(), bytes / 4, costs); });
      const auto after = sent_segments();
      rows.push_back({{"bytes", bytes},
                      {"sent_again",
                       (after.second - before.second) / std::max(after.first - before.first, 1.0)},
                      {"algorithm", name_of(algorithm)},
                      {"measured", measured},
                      {"predicted", all_reduce_seconds(algorithm, bytes, runtime->size(), costs,
                                                       kSegmentBytes)}});
    }
  rank.barrier();
  task.set_result(Json({{"latency", costs.latency}, {"rows", rows}}).dump());
  runtime->leave();
}

int main(int argc, char** argv) {
  testing::run_cluster_function_if_asked();
  const int most_hosts = argc > 1 ? std::atoi(argv[1]) : 4;
  const int fewest_hosts = argc > 2 ? std::atoi(argv[2]) : 2;
  try {
    for (const int64_t bits : {100'000'000, 1'000'000'000})
      for (int hosts = fewest_hosts; hosts <= most_hosts; ++hosts) {
        const testing::NetworkNamespaces network({.hosts = hosts, .bits_per_second = bits});
        testing::ProcessCluster cluster({.workers = hosts,
                                         .function = "times_all_reduces",
                                         .argument = std::to_string(bits),
                                         .network = &network});
        const Json result = Json::parse(cluster.join()[0].result.value());
        std::printf("%lld Mbit/s, %d hosts, latency %.0f us\n",
                    static_cast<long long>(bits / 1'000'000), hosts,
                    result["latency"].get<double>() * 1e6);
        for (const Json& row : result["rows"])
          std::printf(
              "%10lld  %-10s measured %9.3f ms  predicted %9.3f ms  ratio %5.2f  sent again %4.1f "
              "%%\n",
              row["bytes"].get<long long>(), row["algorithm"].get<std::string>().c_str(),
              row["measured"].get<double>() * 1e3, row["predicted"].get<double>() * 1e3,
              row["measured"].get<double>() / row["predicted"].get<double>(),
              row["sent_again"].get<double>() * 100);
        std::fflush(stdout);
      }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cost_model_bench: %s\n", error.what());
    return 1;
  }
}
