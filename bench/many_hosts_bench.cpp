// Times of all-reduces over TCP between the workers of TF_CONFIG, one process each; worker 0 prints
// a line of bytes and the median us for each size. bench/many_hosts.py starts it in network
// namespaces, in turn with Gloo and MPI.
//   many_hosts_bench SECONDS BYTES...
#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/collective/communicator.hpp>
#include <distribute/collective/connect_workers.hpp>

#include "../tests/support/environment_tasks.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

using namespace distribute;
using namespace distribute::collective;

namespace {

/// The median of one worker's times; as many rounds as gloo_peer.py makes.
double median_us(Communicator& group, int64_t bytes, double seconds) {
  using Clock = std::chrono::steady_clock;
  std::vector<float> data(size_t(bytes / 4));
  const auto one_us = [&] {
    std::fill(data.begin(), data.end(), 1.0f);
    const auto start = Clock::now();
    group.all_reduce(data.data(), int64_t(data.size()), DType::Float32);
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  };
  for (int i = 0; i < 3; ++i) one_us();
  int64_t rounds = std::clamp(int64_t(seconds * 1e6 / one_us()), int64_t(20), int64_t(2000));
  group.broadcast(&rounds, 1, DType::Int64, 0);
  std::vector<double> times;
  for (int64_t i = 0; i < rounds; ++i) times.push_back(one_us());
  std::nth_element(times.begin(), times.begin() + rounds / 2, times.end());
  return times[size_t(rounds / 2)];
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const auto runtime = ClusterRuntime::join(tasks_of_environment());
    const WorkerGroup group = connect_workers(runtime, 1);
    Communicator& worker = *group.replicas[0];
    for (int i = 2; i < argc; ++i) {
      const int64_t bytes = std::atoll(argv[i]);
      const double us = median_us(worker, bytes, std::atof(argv[1]));
      if (worker.rank() == 0) std::printf("%lld %.1f\n", static_cast<long long>(bytes), us);
    }
    worker.barrier();
    group.leave();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "many_hosts_bench: %s\n", error.what());
    return 1;
  }
}
