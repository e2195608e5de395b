// NCCL's transport on fake GPUs with a fake NCCL; and what the real library answers without a GPU.
#include <distribute/collective/detail/nccl_tasks.hpp>
#include <distribute/collective/detail/nccl_transport.hpp>

#include <distribute/device/detail/cuda_device.hpp>

#include <distribute/testing/detail/network_namespaces.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <tests/cluster/cluster_support.hpp>

#include <tests/collective/contract.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/environment_tasks.hpp>
#include <tests/support/fake_nccl.hpp>
#include <tests/support/skip_without_network.hpp>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

using namespace distribute;
using namespace distribute::collective;
using Catch::Contains;
using namespace distribute::testing;

namespace {

std::vector<Device> gpus(int count) {
  std::vector<Device> devices;
  for (int i = 0; i < count; ++i) devices.push_back({DeviceType::Gpu, i});
  return devices;
}

std::vector<std::unique_ptr<Transport>> make_group(int size) {
  return make_nccl_transports(gpus(size), net::Deadline::after_seconds(20));
}

/// A rendezvous store.
class Store {
 public:
  void set(const std::string& value) {
    const std::lock_guard lock(mutex_);
    value_ = value;
    changed_.notify_all();
  }
  std::string get() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !value_.empty(); });
    return value_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string value_;
};

}  // namespace

TEST_CASE("NCCL keeps the transports' contract on values", "[collective][nccl]") {
  FakeCuda cuda({.gpus = 8, .runs_kernels = false});
  const ScopedNccl scoped(FakeNccl::table());
  SECTION("all_reduce") { contract::all_reduce_cases(make_group); }
  SECTION("others") { contract::other_collectives(make_group); }
}

TEST_CASE("work waits for the compute stream and has ended when the call returns",
          "[collective][nccl]") {
  FakeCuda cuda({.gpus = 3, .runs_kernels = false});
  const ScopedNccl scoped(FakeNccl::table());
  cuda.forget_calls();
  contract::run_clean(make_group, 3, [](Communicator& group) {
    float value = float(group.rank());
    group.all_reduce(&value, 1, DType::Float32);
    CHECK(value == 3.0f);
  });
  CHECK(cuda.count("cuStreamWaitEvent") == 3);
  CHECK(cuda.count("cuEventQuery") >= 3);
  CHECK(FakeNccl::calls() == 3);
  CHECK(FakeNccl::aborted() == 3);  // each communicator once, at its end
}

TEST_CASE("what lives when the program ends is aborted once", "[collective][nccl]") {
  FakeCuda cuda({.gpus = 2, .runs_kernels = false});
  const ScopedNccl scoped(FakeNccl::table());
  {
    const auto group = make_group(2);
    abort_nccl_communicators();  // exit() does so
    CHECK(FakeNccl::aborted() == 2);
    abort_nccl_communicators();
  }
  CHECK(FakeNccl::aborted() == 2);
}

TEST_CASE("processes meet through a store", "[collective][nccl]") {
  FakeCuda cuda({.gpus = 3, .runs_kernels = false});
  const ScopedNccl scoped(FakeNccl::table());
  Store store;
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      Communicator group(make_nccl_transport(
          gpus(3)[size_t(rank)], rank, 3, [&](const std::string& text) { store.set(text); },
          [&] { return store.get(); }, net::Deadline::after_seconds(20)));
      int64_t value = 10 + rank;
      group.all_reduce(&value, 1, DType::Int64, ReductionOp::Max);
      group.barrier();
      right += value == 12 && group.rank() == rank && group.size() == 3;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right == 3);
}

TEST_CASE("the tasks of a job meet through its store, and hear of a lost one",
          "[collective][nccl]") {
  FakeCuda cuda({.gpus = 3, .runs_kernels = false});
  const ScopedNccl scoped(FakeNccl::table());
  TestJob job(3);
  const auto errors = on_ranks(3, [&](int rank) {
    const auto runtime = job.join(rank, quick_options());
    const Device device = gpus(3)[size_t(rank)];
    auto transports = make_nccl_transports(runtime, std::span(&device, 1), "replicas",
                                           net::Deadline::after_seconds(20));
    Communicator group(std::move(transports[0]));
    int64_t value = 10 + rank;
    group.all_reduce(&value, 1, DType::Int64);
    CHECK(value == 33);
    if (rank == 2) return runtime->report_error(StatusCode::DataLoss, "a file is damaged");
    group.all_reduce(&value, 1, DType::Int64);
  });
  CHECK_THAT(errors[0], Contains("DATA_LOSS") && Contains("worker 2") && Contains("is damaged"));
  CHECK_THAT(errors[1], Contains("DATA_LOSS") && Contains("is damaged"));
}

TEST_CASE("a rank that never comes is an error at the deadline, not a hang", "[collective][nccl]") {
  FakeCuda cuda({.gpus = 3, .runs_kernels = false});
  const ScopedNccl scoped(FakeNccl::table());
  CHECK_THROWS_AS(make_nccl_transport(
                      {DeviceType::Gpu, 0}, 0, 3, [](const std::string&) {},
                      [] { return std::string(); }, net::Deadline::after_seconds(0.05)),
                  DeadlineExceededError);
  const auto errors = contract::run_ranks(
      make_group, 3,
      [](Communicator& group) {
        float value = 1;
        if (group.rank() != 2) group.all_reduce(&value, 1, DType::Float32);
      },
      0.2);
  CHECK_THAT(errors[0], Contains("other ranks did not come"));
  CHECK_THAT(errors[1], Contains("rank 1 of 3 on /device:GPU:1"));
  CHECK(errors[2] == "");
}

TEST_CASE("a broken group and an abort end what waits", "[collective][nccl]") {
  FakeCuda cuda({.gpus = 3, .runs_kernels = false});
  const ScopedNccl scoped(FakeNccl::table());
  const auto wait_for_others = [](const std::function<void(Communicator&)>& last) {
    return contract::run_ranks(make_group, 3, [&](Communicator& group) {
      float value = 1;
      if (group.rank() == 2) return last(group);
      group.all_reduce(&value, 1, DType::Float32);
    });
  };
  const auto broken = wait_for_others([](Communicator&) { FakeNccl::break_all(6); });
  CHECK_THAT(broken[0], Contains("remote process exited: the fake's words"));
  CHECK_THAT(broken[1], Contains("remote process exited"));

  auto transports = make_group(3);
  Communicator first(std::move(transports[0]));
  std::thread other([&] { first.abort(StatusCode::Aborted, "replica 2 gave up"); });
  float value = 1;
  CHECK_THROWS_WITH(first.all_reduce(&value, 1, DType::Float32), "replica 2 gave up");
  other.join();
  CHECK_THROWS_AS(first.barrier(), AbortedError);
}

TEST_CASE("two ranks on one GPU are refused before NCCL is", "[collective][nccl]") {
  FakeCuda cuda({.gpus = 2, .runs_kernels = false});
  const ScopedNccl scoped(FakeNccl::table());
  set_logical_gpus({{0}, {1}, {1}});
  CHECK_THROWS_WITH(make_group(3), Contains("/device:GPU:2 shares GPU 1"));
}

/// The argument says whether its connections are encrypted.
DISTRIBUTE_CLUSTER_MAIN(asks_for_nccl) {
  const FakeCuda cuda({.gpus = 3, .runs_kernels = false});
  const ScopedNccl scoped(FakeNccl::table());
  ClusterOptions options = quick_options();
  options.job_token = "the token of this test";
  options.tls = task.argument() == "encrypted";
  const auto runtime = ClusterRuntime::join(tasks_of_environment(), options);
  const Device device = gpus(3)[size_t(runtime->rank())];
  task.set_result(nccl_group_problem(*runtime, std::span(&device, 1)));
}

TEST_CASE("NCCL between hosts is left out where traffic is to be encrypted", "[collective][nccl]") {
  SKIP_WITHOUT_NETWORK();
  const auto problem_on = [](const NetworkNamespaces* network, const std::string& argument) {
    ProcessCluster cluster(
        {.workers = 3, .function = "asks_for_nccl", .argument = argument, .network = network});
    std::vector<std::string> problems;
    for (const TaskOutcome& outcome : cluster.join()) problems.push_back(outcome.result.value());
    for (const std::string& problem : problems) CHECK(problem == problems[0]);
    return problems[0];
  };
  const NetworkNamespaces hosts({.hosts = 3});
  CHECK_THAT(problem_on(&hosts, "encrypted"), Contains("NCCL does not encrypt"));
  CHECK(problem_on(&hosts, "plain") == "");
  CHECK(problem_on(nullptr, "encrypted") == "");
}

TEST_CASE("an id survives the way through text", "[collective][nccl]") {
  NcclUniqueId id;
  for (size_t i = 0; i < sizeof id.bytes; ++i) id.bytes[i] = char(i * 37);
  const NcclUniqueId again = nccl_id_from(to_text(id));
  CHECK(std::memcmp(id.bytes, again.bytes, sizeof id.bytes) == 0);
  CHECK_THROWS_AS(nccl_id_from("00ff"), InvalidArgumentError);
  CHECK_THROWS_AS(nccl_id_from(std::string(256, 'x')), InvalidArgumentError);
}

TEST_CASE("the real NCCL gives ids without a GPU", "[collective][nccl]") {
  if (const std::string problem = nccl_problem(); !problem.empty()) {
    WARN("skipped: " << problem);
    CHECK_THAT(problem, Contains("NCCL"));
    return;
  }
  int version = 0;
  CHECK(nccl().ncclGetVersion(&version) == 0);
  CHECK(version >= 21800);
  const NcclUniqueId a = make_nccl_id(), b = make_nccl_id();
  CHECK(to_text(a) != to_text(b));
}
