// All-reduces over UCX between hosts, beside our TCP and plain sockets, in turn: one rank a host,
// in network namespaces. A line for each size: bytes, and the best us over UCX, our TCP and plain
// sockets. bench/engines.py --hosts makes a table of it.
//   engine_hosts_bench [hosts] [Mbit/s, 0 for no limit] [seconds] [bytes...]
// Needs root, iproute2, util-linux and the module for UCX.
#include <distribute/base/error.hpp>
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/engine.hpp>
#include <distribute/testing/detail/network_namespaces.hpp>
#include <distribute/testing/process_cluster.hpp>

#include "../tests/support/environment_tasks.hpp"
#include "../tools/raw_sockets.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

using namespace distribute;
using namespace distribute::collective;
using Json = nlohmann::json;

namespace {

/// Microseconds of each way, on this rank; all ranks take as many turns.
std::vector<std::vector<double>> time_in_turn(Communicator& group, double seconds,
                                              const std::vector<std::function<void()>>& ways) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::vector<double>> times(ways.size());
  int64_t turns = 3;  // those to begin with tell how many there is time for
  double one = 0;
  for (int64_t turn = 0; turn < turns; ++turn) {
    for (size_t way = 0; way < ways.size(); ++way) {
      group.barrier();
      const auto start = Clock::now();
      ways[way]();
      const std::chrono::duration<double, std::micro> time = Clock::now() - start;
      if (turn == 2) one += time.count();
      if (turn > 2) times[way].push_back(time.count());
    }
    if (turn != 2) continue;
    turns = std::clamp(int64_t(seconds * 1e6 / one), int64_t(10), int64_t(5000));
    group.broadcast(&turns, 1, DType::Int64, 0);
  }
  return times;
}

/// Connections of this rank to all others.
std::vector<net::Socket> plain_sockets(ClusterRuntime& runtime) {
  std::vector<net::Socket> sockets;
  for (int task = 0; task < runtime.size(); ++task)
    if (task != runtime.rank()) sockets.push_back(runtime.peer_socket(task, "plain", 0));
  return sockets;
}

/// The sum as a check, then all ways in turn.
Json measure(Communicator& tcp, Communicator& ucx, const std::vector<const net::Socket*>& plain,
             int64_t bytes, double seconds) {
  std::vector<float> data(size_t(bytes / 4), 1.0f);
  const auto sum = [&](Communicator& group) {
    group.all_reduce(data.data(), int64_t(data.size()), DType::Float32);
  };
  sum(ucx);
  if (std::any_of(data.begin(), data.end(), [&](float x) { return x != float(ucx.size()); }))
    throw InternalError("the sum over UCX is wrong");
  std::fill(data.begin(), data.end(), 0.0f);
  const size_t share = size_t(2 * bytes / tcp.size());  // what an all-reduce sends to each
  const std::vector<std::byte> from(share * plain.size());
  std::vector<std::byte> to(from.size());
  Json result = Json::array();
  const std::vector<std::function<void()>> ways = {
      [&] { sum(ucx); }, [&] { sum(tcp); },
      [&] { distribute_tools::exchange_raw(plain, share, from.data(), to.data()); }};
  for (const auto& times : time_in_turn(tcp, seconds, ways))
    result.push_back(*std::min_element(times.begin(), times.end()));
  return result;
}

}  // namespace

/// The argument: seconds, and sizes in bytes.
DISTRIBUTE_CLUSTER_MAIN(times_engines) {
  const Json wanted = Json::parse(task.argument());
  const auto runtime = ClusterRuntime::join(tasks_of_environment());
  const WorkerGroup group = connect_workers(runtime, 1);
  const std::vector<net::Socket> sockets = plain_sockets(*runtime);
  std::vector<const net::Socket*> plain;
  for (const net::Socket& socket : sockets) plain.push_back(&socket);
  Json rows = Json::array();
  {
    Communicator ucx(make_ucx_transport(*group.replicas[0]), {.timeout_seconds = 60});
    for (const int64_t bytes : wanted["bytes"])
      rows.push_back(measure(*group.replicas[0], ucx, plain, bytes, wanted["seconds"]));
    group.replicas[0]->barrier();
  }
  task.set_result(rows.dump());
  group.leave();
}

namespace {

void run(int hosts, int64_t megabits, const Json& wanted) {
  const testing::NetworkNamespaces network(
      {.hosts = hosts, .bits_per_second = megabits * 1'000'000});
  testing::ProcessCluster cluster({.workers = hosts,
                                   .function = "times_engines",
                                   .argument = wanted.dump(),
                                   .environment = {{"DISTRIBUTE_TRANSPORT", "tcp"}},
                                   .network = &network});
  const Json rows = Json::parse(cluster.join()[0].result.value());
  for (size_t i = 0; i < rows.size(); ++i)
    std::printf("%lld %.1f %.1f %.1f\n", static_cast<long long>(wanted["bytes"][i].get<int64_t>()),
                rows[i][0].get<double>(), rows[i][1].get<double>(), rows[i][2].get<double>());
}

}  // namespace

int main(int argc, char** argv) {
  testing::run_cluster_function_if_asked();
  const auto argument = [&](int i, double otherwise) {
    return argc > i ? std::atof(argv[i]) : otherwise;
  };
  Json sizes = Json::array();
  for (int i = 4; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
  if (sizes.empty()) sizes = {4, 4096, 65536, 262144, 1048576, 4194304, 26214400, 104857600};
  try {
    run(int(argument(1, 2)), int64_t(argument(2, 0)),
        {{"bytes", sizes}, {"seconds", argument(3, 1)}});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "engine_hosts_bench: %s\n", error.what());
    return 1;
  }
}
