#include <distribute/cluster/cluster_runtime.hpp>
#include <distribute/cluster/tf_config_cluster_resolver.hpp>
#include <distribute/collective/connect_workers.hpp>
#include <distribute/collective/detail/window_transport.hpp>
#include <distribute/testing/detail/network_namespaces.hpp>
#include <distribute/testing/process_cluster.hpp>

#include <tests/collective/contract.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/environment_tasks.hpp>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/skip_without_network.hpp>

#include <chrono>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

using namespace distribute;
using namespace distribute::collective;
using namespace distribute::testing;
using Json = nlohmann::json;

namespace {

constexpr int64_t kLarge = 2'000'000;  // floats

void add_bytes(uint64_t& hash, const void* data, size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ at[i]) * 1099511628211u;
}

template <typename T>
void reduce_numbers(Communicator& group, uint64_t& hash, int64_t count, ReductionOp op) {
  const contract::Array<T> data(contract::numbers<T>(group.rank(), count));
  group.all_reduce(data.get(), count, dtype_of<T>, op);
  add_bytes(hash, data.get(), size_t(count) * sizeof(T));
}

/// The bits of all results of a list of all-reduces, small and large.
uint64_t bits_of_reductions(Communicator& group) {
  uint64_t hash = 14695981039346656037u;
  for (int64_t count : {1, 1000, 70'001, 1'000'003})
    reduce_numbers<float>(group, hash, count, ReductionOp::Sum);
  reduce_numbers<bfloat16>(group, hash, 300'001, ReductionOp::Mean);
  reduce_numbers<int32_t>(group, hash, 300'001, ReductionOp::Max);
  std::vector<float> data(1000, float(group.rank()));
  group.broadcast(data.data(), 1000, DType::Float32, group.size() - 1);
  add_bytes(hash, data.data(), data.size() * sizeof(float));
  group.barrier();
  return hash;
}

/// What this host has sent through its cable.
int64_t bytes_sent() {
  std::ifstream file("/proc/self/net/dev");
  for (std::string line; std::getline(file, line);) {
    const size_t at = line.find("eth0:");
    if (at == std::string::npos) continue;
    std::istringstream numbers(line.substr(at + 5));
    int64_t number = 0;
    for (int i = 0; i < 9; ++i) numbers >> number;
    return number;
  }
  return 0;
}

/// Calls `body` on a thread for each replica of this worker.
void for_each_replica(const WorkerGroup& group,
                      const std::function<void(int i, Communicator& replica)>& body) {
  std::vector<std::thread> threads;
  std::vector<std::exception_ptr> errors(group.replicas.size());
  for (size_t i = 0; i < group.replicas.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        body(int(i), *group.replicas[i]);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& error : errors)
    if (error) std::rethrow_exception(error);
}

uint64_t bits_of_threads(int ranks) {
  std::vector<uint64_t> bits(static_cast<size_t>(ranks));
  contract::run_clean(make_thread_transports, ranks, [&](Communicator& group) {
    bits[size_t(group.rank())] = bits_of_reductions(group);
  });
  for (uint64_t one : bits) CHECK(one == bits[0]);
  return bits[0];
}

}  // namespace

/// The argument says how many replicas a worker has.
DISTRIBUTE_CLUSTER_MAIN(reduces_between_workers) {
  const int replicas = std::stoi(task.argument());
  const auto runtime = ClusterRuntime::join(tasks_of_environment());
  const WorkerGroup group = connect_workers(runtime, replicas, {.timeout_seconds = 100});
  std::vector<uint64_t> bits(static_cast<size_t>(replicas));
  for_each_replica(
      group, [&](int i, Communicator& replica) { bits[size_t(i)] = bits_of_reductions(replica); });
  runtime->barrier("before");
  const int64_t before = bytes_sent();
  runtime->barrier("large");
  for_each_replica(group, [&](int, Communicator& replica) {
    std::vector<float> data(kLarge);
    replica.all_reduce(data.data(), kLarge, DType::Float32);
  });
  runtime->barrier("after");
  task.set_result(Json({{"bits", bits},
                        {"transport", group.replicas[0]->transport()},
                        {"sent", bytes_sent() - before}})
                      .dump());
  group.leave();
}

namespace {

/// Runs the workers on hosts of a network; their results.
std::vector<Json> run_on_hosts(const NetworkNamespaces& network, int workers, int replicas) {
  ProcessCluster cluster({.workers = workers,
                          .function = "reduces_between_workers",
                          .argument = std::to_string(replicas),
                          .network = &network});
  std::vector<Json> results;
  for (const TaskOutcome& outcome : cluster.join())
    results.push_back(Json::parse(outcome.result.value()));
  return results;
}

void check_hierarchy(int hosts, int workers, int replicas) {
  const NetworkNamespaces network({.hosts = hosts});
  const uint64_t bits = bits_of_threads(workers * replicas);
  for (const Json& result : run_on_hosts(network, workers, replicas)) {
    CHECK(result["transport"] == "hierarchical");
    for (uint64_t one : result["bits"]) CHECK(one == bits);
    // The array up or down, on hosts between others up and down; with the headers of packets.
    const double arrays = result["sent"].get<double>() / double(kLarge * sizeof(float));
    CHECK(arrays > 0.95);
    CHECK(arrays < (hosts == 2 ? 1.15 : 2.3));
  }
}

}  // namespace

TEST_CASE("two workers on each of two hosts: the bits of threads, the array once over each cable",
          "[collective][connect_workers]") {
  SKIP_WITHOUT_NETWORK();
  check_hierarchy(2, 4, 1);
}

TEST_CASE("hosts of two, two and one workers", "[collective][connect_workers]") {
  SKIP_WITHOUT_NETWORK();
  check_hierarchy(3, 5, 1);
}

TEST_CASE("replicas of a worker share memory", "[collective][connect_workers]") {
  SKIP_WITHOUT_NETWORK();
  check_hierarchy(2, 2, 2);
}

TEST_CASE("one worker on each host: TCP", "[collective][connect_workers]") {
  SKIP_WITHOUT_NETWORK();
  const NetworkNamespaces network({.hosts = 3});
  for (const Json& result : run_on_hosts(network, 3, 1)) {
    CHECK(result["transport"] == "tcp");
    CHECK(result["bits"][0] == bits_of_threads(3));
  }
}

TEST_CASE("workers of one host share memory, with several replicas too",
          "[collective][connect_workers]") {
  const int replicas = GENERATE(1, 2);
  ProcessCluster cluster(
      {.workers = 2, .function = "reduces_between_workers", .argument = std::to_string(replicas)});
  for (const TaskOutcome& outcome : cluster.join()) {
    const Json result = Json::parse(outcome.result.value());
    CHECK(result["transport"] == "shm");
    for (uint64_t one : result["bits"]) CHECK(one == bits_of_threads(2 * replicas));
  }
}

/// Worker 0 makes the memory of its host, and cannot.
DISTRIBUTE_CLUSTER_MAIN(connects_while_the_owner_has_no_memory) {
  std::mutex mutex;  // guards lines
  std::string lines;
  ClusterOptions options = ClusterOptions::from_environment();
  options.log = [&](const std::string& line) {
    const std::lock_guard lock(mutex);
    lines += line + "\n";
  };
  const auto runtime = ClusterRuntime::join(tasks_of_environment(), options);
  std::optional<FileSizeLimit> full;
  if (runtime->rank() == 0) full.emplace(100);
  const auto begin = std::chrono::steady_clock::now();
  const WorkerGroup group = connect_workers(runtime, 1, {.timeout_seconds = 100});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  full.reset();
  float sum = float(runtime->rank() + 1);
  group.replicas[0]->all_reduce(&sum, 1, DType::Float32);
  group.leave();
  const std::lock_guard lock(mutex);
  task.set_result(Json({{"transport", group.replicas[0]->transport()},
                        {"seconds", seconds.count()},
                        {"sum", sum},
                        {"lines", lines}})
                      .dump());
}

TEST_CASE("workers are told at once when the first of their host gets no shared memory",
          "[collective][connect_workers]") {
  ProcessCluster cluster({.workers = 3, .function = "connects_while_the_owner_has_no_memory"});
  for (const TaskOutcome& outcome : cluster.join()) {
    INFO(outcome.name);
    const Json result = Json::parse(outcome.result.value());
    CHECK(result["transport"] == "tcp");
    CHECK(result["sum"] == 6);
    CHECK(result["seconds"] < 8);  // not the 10 s that a rank waits for an answer
    const std::string lines = result["lines"];
    CHECK_THAT(lines, Catch::Matchers::Contains(
                          "no shared memory between the workers, TCP is used: worker 0 ("));
    CHECK_THAT(lines, Catch::Matchers::Contains("File too large"));
  }
}
