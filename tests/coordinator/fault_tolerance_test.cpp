#include <tests/coordinator/thread_workers.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

#include <distribute/rpc/detail/peer.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <atomic>
#include <string>
#include <vector>

using namespace thread_workers;  // NOLINT: tests only
using distribute::testing::Latch;
using distribute::testing::wait_until;

namespace {

/// What a function of these tests counts and waits for.
struct Steps {
  std::atomic<int> begun{0}, ended{0};
  std::atomic<bool> hold{false};
  RemoteFunction<int64_t(data::Iterator&)> step{"step", [this](data::Iterator& it) {
                                                  ++begun;
                                                  while (hold)
                                                    throw_if_cancelled(), std::this_thread::yield();
                                                  const auto value = it.next().x.item<int64_t>();
                                                  ++ended;
                                                  return value;
                                                }};
  RemoteFunction<int()> one{"one", [this] { return ++ended, 1; }};
  RemoteFunction<void()> fail{"fail", [] { throw InvalidArgumentError("boom"); }};
};

PerWorkerDataset numbers(Cluster& cluster) {
  return cluster.coordinator->create_per_worker_dataset(
      [] { return data::Dataset::range(1000000).repeat(); });
}

}  // namespace

TEST_CASE("a worker may die between functions, and its datasets are made again",
          "[coordinator][fault_tolerance]") {
  Steps steps;
  const int count = GENERATE(1, 3);
  Cluster cluster(count);
  const auto dataset = numbers(cluster);
  for (int i = 0; i < 2; ++i) cluster.coordinator->schedule(steps.step, dataset);
  cluster.coordinator->join();
  CHECK(steps.ended == 2);
  cluster.workers[0]->restart();
  for (int i = 0; i < 4; ++i) cluster.coordinator->schedule(steps.step, dataset);
  cluster.coordinator->join();
  CHECK(steps.ended == 6);
}

TEST_CASE("a function in the middle runs again elsewhere", "[coordinator][fault_tolerance]") {
  Steps steps;
  Cluster cluster(3);
  const auto dataset = numbers(cluster);
  steps.hold = true;
  for (int i = 0; i < 6; ++i) cluster.coordinator->schedule(steps.step, dataset);
  wait_until([&] { return steps.begun == 3; }, "three functions");
  cluster.workers[1]->kill();  // and it never returns
  wait_until(
      [&] { return cluster.logged().find("worker 1 (thread) is lost") != std::string::npos; },
      "the log");
  steps.hold = false;
  cluster.coordinator->join();
  CHECK(steps.ended == 6);
  CHECK(steps.begun == 7);
  CHECK(cluster.logged().find("its functions run elsewhere until it is back") != std::string::npos);
}

TEST_CASE("all workers may die at once", "[coordinator][fault_tolerance]") {
  Steps steps;
  Cluster cluster(2);
  const auto dataset = numbers(cluster);
  steps.hold = true;
  for (int i = 0; i < 4; ++i) cluster.coordinator->schedule(steps.step, dataset);
  wait_until([&] { return steps.begun == 2; }, "two functions");
  for (const auto& worker : cluster.workers) worker->kill();
  steps.hold = false;
  CHECK_FALSE(cluster.coordinator->done());
  for (const auto& worker : cluster.workers) worker->start();
  cluster.coordinator->join();
  CHECK(steps.ended == 4);
}

TEST_CASE("a worker that dies again and again loses no function",
          "[coordinator][fault_tolerance]") {
  Steps steps;
  const int queue = GENERATE(2, 262144);
  CoordinatorOptions options;
  options.queue_size = queue;
  Cluster cluster(3, options);
  const auto dataset = numbers(cluster);
  std::atomic<bool> done{false};
  std::thread killer([&] {
    for (int i = 0; !done; ++i) {
      cluster.workers[size_t(i % 2)]->restart();
      const int seen = steps.ended;
      while (!done && steps.ended < seen + 5) std::this_thread::yield();
    }
  });
  std::vector<RemoteValue<int64_t>> values;
  for (int i = 0; i < 300; ++i)
    values.push_back(cluster.coordinator->schedule(steps.step, dataset));
  cluster.coordinator->join();
  done = true;
  killer.join();
  for (const auto& value : values) CHECK(value.status() == RemoteValueStatus::Ready);
  CHECK(steps.ended >= 300);
}

TEST_CASE("an error while a worker is lost cancels what it had", "[coordinator][fault_tolerance]") {
  Steps steps;
  Cluster cluster(2);
  const auto dataset = numbers(cluster);
  steps.hold = true;
  const auto first = cluster.coordinator->schedule(steps.step, dataset);
  wait_until([&] { return steps.begun == 1; }, "the function");
  const auto failed = cluster.coordinator->schedule(steps.fail);
  check_throws<InvalidArgumentError>([&] { failed.fetch(); }, "boom");
  for (const auto& worker : cluster.workers) worker->kill();
  check_throws<CancelledError>([&] { first.fetch(); }, "cancelled. Please reschedule");
  check_throws<InvalidArgumentError>([&] { cluster.coordinator->join(); }, "boom");
  steps.hold = false;
  for (const auto& worker : cluster.workers) worker->start();
  cluster.coordinator->schedule(steps.step, dataset);
  cluster.coordinator->join();
  CHECK(steps.ended == 1);
}

TEST_CASE("a result outlives its worker", "[coordinator][fault_tolerance]") {
  Steps steps;
  RemoteFunction tensor("tensor", [] { return Tensor{1.0f, 2.0f}; });
  Cluster cluster(1);
  const auto value = cluster.coordinator->schedule(tensor);
  cluster.coordinator->join();
  cluster.workers[0]->kill();
  CHECK(value.fetch().to_vector() == std::vector<float>{1, 2});
  CHECK(value.get().to_vector() == std::vector<float>{1, 2});
}

TEST_CASE("per-worker values of a lost worker are aborted until it is back",
          "[coordinator][fault_tolerance]") {
  Steps steps;
  Cluster cluster(1);
  const auto dataset = numbers(cluster);
  cluster.coordinator->schedule(steps.step, dataset).fetch();
  CHECK(dataset[0].status() == RemoteValueStatus::Ready);
  cluster.workers[0]->kill();
  cluster.coordinator->schedule(steps.step, dataset);
  wait_until([&] { return dataset[0].status() == RemoteValueStatus::Aborted; }, "the loss");
  CHECK(cluster.coordinator->num_live_workers() == 0);
  cluster.workers[0]->start();
  cluster.coordinator->join();
  CHECK(dataset[0].status() == RemoteValueStatus::Ready);
  CHECK(cluster.coordinator->num_live_workers() == 1);
}

TEST_CASE("a worker that does not return in time is given up, the last one with an error",
          "[coordinator][fault_tolerance]") {
  Steps steps;
  CoordinatorOptions options;
  options.worker_recovery_timeout = 0.1;
  Cluster cluster(2, options);
  cluster.workers[0]->kill();
  for (int i = 0; i < 10; ++i) cluster.coordinator->schedule(steps.one);
  cluster.coordinator->join();
  cluster.workers[1]->kill();
  const auto use_both = [&] {
    while (true) {
      cluster.coordinator->schedule(steps.one);
      std::this_thread::yield();
    }
  };
  check_throws<UnavailableError>(use_both, "there is no worker left");
  check_throws<UnavailableError>([&] { cluster.coordinator->join(); }, "there is no worker left");
}

TEST_CASE("a missing worker is named when the start takes too long",
          "[coordinator][fault_tolerance]") {
  Steps steps;
  CoordinatorOptions options;
  options.startup_timeout = 0.3;
  options.report_interval = 0.1;
  std::atomic<int> reports{0};
  options.log = [&](const std::string& line) {
    reports += line == "the coordinator waits for worker 1 (thread)";
  };
  std::vector<std::unique_ptr<WorkerLink>> links;
  std::vector<std::shared_ptr<Worker>> workers;
  for (int i = 0; i < 2; ++i) {
    workers.push_back(std::make_shared<Worker>(i, WorkerServiceOptions{}));
    links.push_back(std::make_unique<Link>(workers.back()));
  }
  workers[0]->start();
  WorkerPool pool(std::move(links), options);
  check_throws<UnavailableError>([&] { pool.start(); },
                                 "0.3 s for worker 1 (thread): worker 1 is gone");
  CHECK(reports >= 1);
}

TEST_CASE("trouble with a parameter server is passing twice, and then an error",
          "[coordinator][fault_tolerance]") {
  Steps steps;
  std::atomic<int> trouble{0}, runs{0};
  RemoteFunction push("push", [&] {
    ++runs;
    if (--trouble >= 0) throw rpc::LostTaskError({"ps", 1, "10.0.0.9:2222"}, "a pull was reset");
  });
  Cluster cluster(2);
  trouble = 2;
  cluster.coordinator->schedule(push);
  cluster.coordinator->join();
  CHECK(runs == 3);
  trouble = 1;
  cluster.coordinator->schedule(push);
  check_throws<UnavailableError>([&] { cluster.coordinator->join(); }, "a pull was reset");
  CHECK(runs == 4);
  CHECK(cluster.logged().find("taken for passing trouble: a pull was") != std::string::npos);
}

TEST_CASE("an error that only speaks of a server, or is of another task, does not pass",
          "[coordinator][fault_tolerance]") {
  Steps steps;
  int runs = 0;
  RemoteFunction speak("speak", [&] {
    ++runs;
    throw UnavailableError("ps 1 (10.0.0.9:2222) is lost: reset");
  });
  RemoteFunction of_worker("of_worker", [&] {
    ++runs;
    throw rpc::LostTaskError({"worker", 1, "10.0.0.9:2222"}, "worker 1 is lost");
  });
  Cluster cluster(1);
  cluster.coordinator->schedule(speak);
  check_throws<UnavailableError>([&] { cluster.coordinator->join(); }, "ps 1 (10.0.0.9:2222)");
  cluster.coordinator->schedule(of_worker);
  check_throws<UnavailableError>([&] { cluster.coordinator->join(); }, "worker 1 is lost");
  CHECK(runs == 2);
}

TEST_CASE("a lost parameter server ends everything with one error",
          "[coordinator][fault_tolerance]") {
  Steps steps;
  Cluster cluster(2);
  const auto dataset = numbers(cluster);
  steps.hold = true;
  for (int i = 0; i < 4; ++i) cluster.coordinator->schedule(steps.step, dataset);
  wait_until([&] { return steps.begun == 2; }, "two functions");
  std::thread joiner([&] {
    check_throws<UnavailableError>([&] { cluster.coordinator->join(); }, "ps 0 (a:1) is lost");
  });
  cluster.pool().break_for_good(std::make_exception_ptr(UnavailableError("ps 0 (a:1) is lost")));
  joiner.join();
  check_throws<UnavailableError>([&] { cluster.coordinator->schedule(steps.one); },
                                 "ps 0 (a:1) is lost");
  check_throws<UnavailableError>([&] { cluster.coordinator->done(); }, "ps 0 (a:1) is lost");
}
