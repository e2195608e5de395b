#include <tests/coordinator/thread_workers.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>

#include <distribute/autograd/variable.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace thread_workers;  // NOLINT: tests only
using distribute::testing::Latch;
using distribute::testing::wait_until;

namespace {

CoordinatorOptions small_queue() {
  CoordinatorOptions options;
  options.queue_size = 2;
  return options;
}

/// Functions that most tests use.
struct Functions {
  std::atomic<int> sum{0};
  RemoteFunction<int(int)> add{"add", [this](int value) { return sum += value; }};
  RemoteFunction<void()> fail{"fail", [] { throw InvalidArgumentError("boom"); }};
  RemoteFunction<int64_t(data::Iterator&)> next{
      "next", [](data::Iterator& it) { return it.next().x.item<int64_t>(); }};
};

/// Runs until it is cancelled.
void endless() {
  while (true) throw_if_cancelled(), std::this_thread::yield();
}

}  // namespace

TEST_CASE("functions are scheduled, joined and run again", "[coordinator][cluster_coordinator]") {
  Functions functions;
  Cluster cluster(3, GENERATE(CoordinatorOptions{}, small_queue()));
  ClusterCoordinator& coordinator = *cluster.coordinator;
  CHECK(coordinator.num_workers() == 3);
  coordinator.join();  // nothing was scheduled
  for (int i = 0; i < 5; ++i) coordinator.schedule(functions.add, 2);
  coordinator.join();
  CHECK(functions.sum == 10);
  coordinator.join();
  CHECK(coordinator.done());
  for (int i = 0; i < 5; ++i) coordinator.schedule(functions.add, 2);
  coordinator.join();
  CHECK(functions.sum == 20);
}

TEST_CASE("values of every kind go there and come back", "[coordinator][cluster_coordinator]") {
  using Nested = std::tuple<int, std::tuple<int, double>, std::vector<std::string>,
                            std::map<std::string, std::vector<float>>>;
  RemoteFunction echo("echo", [](const Nested& value, bool flag, std::string text) {
    return std::pair(value, text + (flag ? "!" : "?"));
  });
  RemoteFunction twice("twice", [](const Tensor& x, std::optional<int64_t> none,
                                   const data::Batch& batch, PerReplica<Tensor> parts) {
    Tensor copy(x.shape(), std::vector<float>(x.to_vector()));
    return std::tuple(copy, none, batch, parts, int8_t(-3), uint64_t(1) << 63, -0.0f);
  });
  Cluster cluster(2);
  ClusterCoordinator& coordinator = *cluster.coordinator;
  const Nested value{2, {3, 0.5}, {"five", ""}, {{"v", {1, 2}}, {"w", {}}}};
  const auto echoed = coordinator.schedule(echo, value, true, "say");
  CHECK(echoed.fetch() == std::pair(value, std::string("say!")));
  CHECK(echoed.status() == RemoteValueStatus::Ready);
  CHECK(echoed.get() == echoed.fetch());

  const Tensor x(Shape{2, 2}, std::vector<float>{1, 2, 3, 4});
  const data::Batch batch{.x = x, .y = Tensor{int32_t{7}}, .more = {Tensor(uint8_t{3})}};
  const auto [copy, none, back, parts, small, large, minus] =
      coordinator.schedule(twice, x, std::nullopt, batch, PerReplica<Tensor>({x, Tensor()}))
          .fetch();
  CHECK(copy.shape() == Shape{2, 2});
  CHECK(copy.to_vector() == x.to_vector());
  CHECK_FALSE(none);
  CHECK(back.size() == 3);
  CHECK(back.y.dtype() == DType::Int32);
  CHECK(back.more[0].item<uint8_t>() == 3);
  CHECK(parts.size() == 2);
  CHECK_FALSE(parts[1]);
  CHECK(small == -3);
  CHECK(large == uint64_t(1) << 63);
  CHECK(std::signbit(minus));
}

TEST_CASE("fetch finds remote values in a nest", "[coordinator][cluster_coordinator]") {
  Functions functions;
  Cluster cluster(2);
  ClusterCoordinator& coordinator = *cluster.coordinator;
  const auto a = coordinator.schedule(functions.add, 1);
  coordinator.join();
  const auto b = coordinator.schedule(functions.add, 2);
  using Nest = std::tuple<RemoteValue<int>, std::vector<RemoteValue<int>>, int>;
  const Nest nest{a, {a, b}, 7};
  CHECK(coordinator.fetch(nest) == std::tuple(1, std::vector{1, 3}, 7));
  CHECK(coordinator.fetch(std::map<std::string, RemoteValue<int>>{{"b", b}}).at("b") == 3);
  CHECK(coordinator.fetch(std::pair(b, 0.5)) == std::pair(3, 0.5));
  CHECK(coordinator.fetch(PerWorkerValues<int>({a, b})) == std::vector{1, 3});
  CHECK(coordinator.fetch(5) == 5);
}

TEST_CASE("two coordinators of one strategy are one", "[coordinator][cluster_coordinator]") {
  Functions functions;
  Cluster cluster(1);
  ClusterCoordinator second(cluster.core({}));
  second.schedule(functions.add, 5);
  cluster.coordinator->join();
  CHECK(functions.sum == 5);
  CHECK(&second.strategy() == &cluster.strategy);
  check_throws<InvalidArgumentError>(
      [&] {
        OneDeviceStrategy other;
        ClusterCoordinator c(other);
      },
      "ParameterServerStrategy");
}

TEST_CASE("per-worker values become the element of the worker that runs the function",
          "[coordinator][cluster_coordinator]") {
  Functions functions;
  RemoteFunction echo("echo", [](int value) { return value; });
  Cluster cluster(3);
  ClusterCoordinator& coordinator = *cluster.coordinator;
  std::vector<RemoteValue<int>> values;
  for (int i = 0; i < 3; ++i) values.push_back(coordinator.schedule(echo, 100 + i));
  const PerWorkerValues<int> per_worker(values);
  std::set<int> seen;
  for (int i = 0; i < 20; ++i) seen.insert(coordinator.schedule(echo, per_worker).fetch());
  for (const int value : seen) CHECK((value >= 100 && value < 103));
  values.pop_back();
  check_throws<InvalidArgumentError>(
      [&] { coordinator.schedule(echo, PerWorkerValues<int>(values)); },
      "per-worker values of 2 workers, but there are 3");
  CHECK_THROWS_AS(PerWorkerValues<int>(std::vector<RemoteValue<int>>{}), InvalidArgumentError);
  check_throws<InvalidArgumentError>([&] { coordinator.schedule(echo, values[0]); },
                                     "schedule echo: a RemoteValue cannot be an argument");
}

TEST_CASE("the first error comes out of join, schedule or done once",
          "[coordinator][cluster_coordinator]") {
  Functions functions;
  Cluster cluster(3, GENERATE(CoordinatorOptions{}, small_queue()));
  ClusterCoordinator& coordinator = *cluster.coordinator;
  for (int i = 0; i < 3; ++i) coordinator.schedule(functions.add, 1);
  RemoteValue<void> failed = coordinator.schedule(functions.fail);
  check_throws<InvalidArgumentError>([&] { coordinator.join(); }, "(thread): fail: boom");
  check_throws<InvalidArgumentError>([&] { failed.fetch(); }, "boom");
  CHECK(failed.status() == RemoteValueStatus::Aborted);
  coordinator.join();  // forgotten
  CHECK(coordinator.done());

  coordinator.schedule(functions.fail);
  const auto schedule_for_ever = [&] {
    while (true) coordinator.schedule(functions.add, 1);
  };
  check_throws<InvalidArgumentError>(schedule_for_ever, "boom");
  coordinator.join();
  coordinator.schedule(functions.fail);
  check_throws<InvalidArgumentError>(
      [&] {
        while (!coordinator.done()) std::this_thread::yield();
      },
      "boom");
  const int before = functions.sum;
  coordinator.schedule(functions.add, 1);
  coordinator.join();
  CHECK(functions.sum == before + 1);
}

TEST_CASE("after an error nothing runs, and what was not done is cancelled",
          "[coordinator][cluster_coordinator]") {
  Functions functions;
  Latch started(2);
  std::atomic<int> running{0};
  RemoteFunction slow("slow", [&] {
    ++running;
    started.count_down();
    try {
      endless();
    } catch (const CancelledError&) {
      --running;
      throw;
    }
  });
  RemoteFunction fail_late("fail_late", [&] {
    started.wait();
    throw OutOfRangeError("late");
  });
  Cluster cluster(3);
  ClusterCoordinator& coordinator = *cluster.coordinator;
  const auto first = coordinator.schedule(slow), second = coordinator.schedule(slow);
  coordinator.schedule(fail_late);
  check_throws<OutOfRangeError>([&] { coordinator.join(); }, "late");
  CHECK(running == 0);
  for (const auto& one : {first, second})
    check_throws<CancelledError>([&] { one.fetch(); }, "cancelled. Please reschedule");
  coordinator.schedule(functions.add, 1);
  coordinator.join();
  CHECK(functions.sum == 1);
}

TEST_CASE("exceptions of other kinds arrive, too", "[coordinator][cluster_coordinator]") {
  RemoteFunction standard("standard", [] { throw std::runtime_error("plain"); });
  RemoteFunction odd("odd", [] { throw 5; });
  Cluster cluster(1);
  const auto one = cluster.coordinator->schedule(standard);
  check_throws<UnknownError>([&] { one.fetch(); }, "standard: plain");
  check_throws<UnknownError>([&] { cluster.coordinator->join(); }, "standard: plain");
  const auto two = cluster.coordinator->schedule(odd);
  check_throws<UnknownError>([&] { two.fetch(); }, "something that is no std::exception");
}

TEST_CASE("each worker reads its own endless dataset, in an order of its own",
          "[coordinator][cluster_coordinator]") {
  Latch all(2);
  RemoteFunction read("read", [&](data::Iterator& it) {
    if (!all.is_open()) all.arrive_and_wait();  // so that each worker has one of the first two
    std::vector<int64_t> values;
    for (int i = 0; i < 100; ++i) values.push_back(it.next().x.item<int64_t>());
    return values;
  });
  Cluster cluster(2);
  ClusterCoordinator& coordinator = *cluster.coordinator;
  const bool seeded = GENERATE(true, false);
  const auto dataset = seeded ? coordinator.create_per_worker_dataset([](const InputContext&) {
    return data::Dataset::range(100).shuffle(100, {.seed = 5}).repeat();
  })
                              : coordinator.create_per_worker_dataset(
                                    [] { return data::Dataset::range(100).shuffle(100).repeat(); });
  const auto a = coordinator.schedule(read, dataset), b = coordinator.schedule(read, dataset);
  auto first = a.fetch(), second = b.fetch();
  CHECK(first != second);
  CHECK(coordinator.schedule(read, dataset.iter()).fetch() != first);
  std::sort(first.begin(), first.end());
  std::sort(second.begin(), second.end());
  CHECK(first == second);
  check_throws<UnimplementedError>([&] { dataset.next(); }, "schedule");
}

TEST_CASE("a dataset function knows its worker", "[coordinator][cluster_coordinator]") {
  RemoteFunction read("read", [](data::Iterator& it) { return it.next().x.item<int64_t>(); });
  RemoteFunction count("count", [](const data::Dataset& set) { return set.cardinality(); });
  Cluster cluster(3);
  ClusterCoordinator& coordinator = *cluster.coordinator;
  const auto dataset = coordinator.create_per_worker_dataset([](const InputContext& input) {
    const auto workers = input.num_input_pipelines();
    return data::Dataset::range(10 * workers).shard(workers, input.input_pipeline_id()).repeat();
  });
  std::vector<RemoteValue<int64_t>> values;
  for (int i = 0; i < 30; ++i) values.push_back(coordinator.schedule(read, dataset));
  std::set<int64_t> mod;
  for (const int64_t value : coordinator.fetch(values)) mod.insert(value % 3);
  CHECK(!mod.empty());
  CHECK(coordinator.schedule(count, dataset).fetch() == data::kInfiniteCardinality);
}

TEST_CASE("a dataset with a name may capture", "[coordinator][cluster_coordinator]") {
  Functions functions;
  const int64_t start = 40;
  RemoteDataset named("numbers", [&](const InputContext&) {
    return data::Dataset::range(start, start + 2).repeat();
  });
  Cluster cluster(1);
  const auto dataset = cluster.coordinator->create_per_worker_dataset(named);
  CHECK(cluster.coordinator->schedule(functions.next, dataset).fetch() == 40);
  CHECK(cluster.coordinator->schedule(functions.next, dataset).fetch() == 41);
  CHECK(cluster.coordinator->schedule(functions.next, dataset.iter()).fetch() == 40);
  CHECK_THROWS_AS(RemoteDataset("numbers", nullptr), AlreadyExistsError);
}

TEST_CASE("a distributed iterator divides the worker's batches among its replicas",
          "[coordinator][cluster_coordinator]") {
  RemoteFunction next("next", [](DistributedIterator& it) { return it.get_next(); });
  Cluster cluster(1);
  const auto dataset = cluster.coordinator->create_per_worker_dataset(
      [] { return data::Dataset::range(100).batch(4).repeat(); });
  const auto first = cluster.coordinator->schedule(next, dataset).fetch();
  REQUIRE(first.size() == 1);
  CHECK(first[0].x.shape() == Shape{4});
  CHECK(cluster.coordinator->schedule(next, dataset).fetch()[0].x.data<int64_t>()[0] == 4);
  const auto anew = cluster.coordinator->schedule(next, dataset.distributed_iter()).fetch();
  CHECK(anew[0].x.data<int64_t>()[0] == 0);
}

TEST_CASE("a dataset that cannot be made fails the functions that use it",
          "[coordinator][cluster_coordinator]") {
  Functions functions;
  Cluster cluster(2);
  ClusterCoordinator& coordinator = *cluster.coordinator;
  const auto broken = coordinator.create_per_worker_dataset(
      [](const InputContext&) -> data::Dataset { throw NotFoundError("no such file"); });
  coordinator.join();  // it was not used yet
  coordinator.schedule(functions.next, broken);
  check_throws<ClosureInputError>([&] { coordinator.join(); }, "no such file");
  const auto variables = coordinator.create_per_worker_dataset([](const InputContext&) {
    Variable v(Tensor(1.0f));
    return data::Dataset::range(1);
  });
  coordinator.schedule(functions.next, variables);
  check_throws<ClosureInputError>([&] { coordinator.join(); }, "may not create variables");
  coordinator.schedule(functions.add, 1);
  coordinator.join();
  CHECK(functions.sum == 1);
}

namespace {

/// Lives as long as who captures it.
struct Counted {
  explicit Counted(std::atomic<int>& all) : alive(all) { ++alive; }
  ~Counted() { --alive; }
  std::atomic<int>& alive;
};

}  // namespace

TEST_CASE("a dataset without a handle is dropped on the workers",
          "[coordinator][cluster_coordinator]") {
  Functions functions;
  static std::atomic<int> alive{0};
  Cluster cluster(2);
  {
    const auto dataset = cluster.coordinator->create_per_worker_dataset([](const InputContext&) {
      auto counter = std::make_shared<Counted>(alive);
      return data::Dataset::range(5).repeat().map([counter](data::Batch batch) { return batch; });
    });
    cluster.coordinator->schedule(functions.next, dataset).fetch();
    wait_until([] { return alive == 2; }, "both datasets");
  }
  wait_until([] { return alive == 0; }, "their end");
}

TEST_CASE("a dataset that is let go of while it is being made is dropped on the workers",
          "[coordinator][cluster_coordinator]") {
  static std::atomic<int> alive{0};
  static std::atomic<bool> let_go{false};
  Cluster cluster(2);
  {
    const auto dataset = cluster.coordinator->create_per_worker_dataset([](const InputContext&) {
      auto counter = std::make_shared<Counted>(alive);
      wait_until([] { return let_go.load(); }, "the dataset's last holder");
      return data::Dataset::range(5).map([counter](data::Batch batch) { return batch; });
    });
    wait_until([] { return alive == 2; }, "both datasets");
  }
  let_go = true;
  wait_until([] { return alive == 0; }, "their end");
}

TEST_CASE("functions must be the same everywhere, in the same order",
          "[coordinator][cluster_coordinator]") {
  const auto check = check_same_registrations;
  CHECK_NOTHROW(check({"a"}, {"a", "b"}, "worker 1"));
  check_throws<InvalidArgumentError>(
      [&] {
        check({"a", "b"}, {"a"}, "worker 1");
      },
      "number 2 is b in the coordinator, and there is none in "
      "worker 1");
  check_throws<InvalidArgumentError>(
      [&] {
        check({"a", "b"}, {"b", "a"}, "worker 1");
      },
      "number 1 is a in the coordinator, and b in worker 1");

  Functions functions;
  Registry others;
  WorkerServiceOptions service;
  service.functions = &others;
  check_throws<InvalidArgumentError>([&] { Cluster cluster(2, {}, service); },
                                     "number 1 is function \"add\" of type int (int) in the "
                                     "coordinator, and there is none in worker ");
  CHECK_THROWS_AS(RemoteFunction<void()>("fail", [] {}), AlreadyExistsError);
  CHECK_THROWS_AS(RemoteFunction<void()>("", [] {}), InvalidArgumentError);
}

TEST_CASE("a name that a worker does not know is an error with the names it knows",
          "[coordinator][cluster_coordinator]") {
  Functions functions;
  Cluster cluster(1);
  RemoteFunction<void()> late("late", [] {});
  CHECK_NOTHROW(cluster.coordinator->schedule(late).fetch());  // one process: registered by now
  Registry registry;
  check_throws<InvalidArgumentError>([&] { registry.find("function", "late"); },
                                     "there is no remote function \"late\" here; there is nothing");
  auto& mine = coordinator_internal::registry();
  check_throws<InvalidArgumentError>([&] { mine.find("function", "later"); },
                                     "function \"add\", function \"fail\", function \"next\"");
}

TEST_CASE("a function runs where it is called, too", "[coordinator][remote_function]") {
  RemoteFunction add("add", [](int a, const int& b) { return a + b; });
  static_assert(std::same_as<decltype(add), RemoteFunction<int(int, const int&)>>);
  CHECK(add(2, 3) == 5);
  CHECK(add.name() == "add");
}

TEST_CASE("the coordinator's end leaves no thread and cancels what is not done",
          "[coordinator][cluster_coordinator]") {
  Latch started(1);
  RemoteFunction slow("slow", [&] {
    if (!started.is_open()) started.count_down();
    endless();
  });
  auto cluster = std::make_unique<Cluster>(1);
  const auto running = cluster->coordinator->schedule(slow);
  const auto queued = cluster->coordinator->schedule(slow);
  started.wait();
  cluster.reset();
  check_throws<CancelledError>([&] { running.fetch(); }, "cancelled. Please reschedule");
  check_throws<CancelledError>([&] { queued.fetch(); }, "cancelled. Please reschedule");
}

TEST_CASE("the watchdog says when nothing ends", "[coordinator][cluster_coordinator]") {
  std::atomic<bool> go{false};
  RemoteFunction slow("slow", [&] {
    while (!go) std::this_thread::yield();
  });
  CoordinatorOptions options;
  options.watchdog_timeout = 0.05;
  Cluster cluster(1, options);
  const auto value = cluster.coordinator->schedule(slow);
  wait_until(
      [&] {
        return cluster.logged().find("in flight: worker 0 (thread): slow for") != std::string::npos;
      },
      "the watchdog");
  go = true;
  value.fetch();
}

TEST_CASE("options come from TensorFlow's variables", "[coordinator][coordinator_options]") {
  ::setenv("TF_COORDINATOR_SCHEDULE_START_DELAY", "2", 1);
  ::setenv("TF_COORDINATOR_IGNORE_TRANSIENT_PS_FAILURES", "7", 1);
  const auto options = CoordinatorOptions::from_environment();
  CHECK(options.schedule_start_delay == 2);
  CHECK(options.ignore_transient_ps_failures == 7);
  ::setenv("TF_COORDINATOR_SCHEDULE_START_DELAY", "two", 1);
  check_throws<InvalidArgumentError>([] { CoordinatorOptions::from_environment(); },
                                     "TF_COORDINATOR_SCHEDULE_START_DELAY='two'");
  ::unsetenv("TF_COORDINATOR_SCHEDULE_START_DELAY");
  ::unsetenv("TF_COORDINATOR_IGNORE_TRANSIENT_PS_FAILURES");
}

TEST_CASE("with a start delay everything is run, too", "[coordinator][cluster_coordinator]") {
  Functions functions;
  CoordinatorOptions options;
  options.schedule_start_delay = 0.05;
  options.schedule_start_delay_max = 0.08;
  Cluster cluster(3, options);
  for (int i = 0; i < 10; ++i) cluster.coordinator->schedule(functions.add, 1);
  cluster.coordinator->join();
  CHECK(functions.sum == 10);
}
