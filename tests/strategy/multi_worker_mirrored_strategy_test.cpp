#include <distribute/distribute.hpp>
#include <distribute/strategy/detail/multi_worker_extended.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/caught_log.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/logical_devices.hpp>
#include <tests/support/small_training.hpp>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

using namespace distribute;
using Catch::Contains;
using testing::ProcessCluster;
using testing::ProcessClusterOptions;

namespace {

/// Runs a function on every worker of a cluster of processes.
std::vector<testing::TaskOutcome> run(int workers, const char* function, const char* transport) {
  ProcessCluster cluster(
      {.workers = workers,
       .function = function,
       .environment = {{"DISTRIBUTE_TRANSPORT", transport}, {"OMP_NUM_THREADS", "1"}},
       .deadline_seconds = 300});
  return cluster.join();
}

}  // namespace

DISTRIBUTE_CLUSTER_MAIN(trains_net) {
  MultiWorkerMirroredStrategy strategy;
  task.set_result(bits_of_training(strategy));
}

TEST_CASE("without a cluster it trains on this process alone", "[strategy][multi_worker]") {
  const LogicalDevices devices(2);
  SimpleClusterResolver none{ClusterSpec{}};
  MultiWorkerMirroredStrategy<> strategy(none, {.num_replicas = 2});
  CHECK(strategy.num_replicas_in_sync() == 2);
  CHECK(strategy.extended().should_checkpoint());
  CHECK(strategy.cluster_resolver() == &none);
  MirroredStrategy mirrored({.num_replicas = 2});
  CHECK(bits_of_training(strategy) == bits_of_training(mirrored));
}

TEST_CASE("an elastic strategy that needs others does not train alone",
          "[strategy][multi_worker]") {
  const MultiWorkerOptions options{.elastic = {.min_workers = 2}};
  check_throws<InvalidArgumentError>(
      [&] { MultiWorkerMirroredStrategy<CpuDevice> strategy(options); },
      "needs at least 2 workers (min_workers), but the environment names no other task");
}

// TensorFlow 2.21 warns "Enabled NCCL communication but no GPUs detected/specified."
TEST_CASE("NCCL without GPUs is a warning", "[strategy][multi_worker]") {
  CaughtLog log(LogFormat::Human, LogSeverity::Warning);
  MultiWorkerMirroredStrategy<CpuDevice> plain({});
  CHECK(log.lines.empty());
  MultiWorkerMirroredStrategy<CpuDevice> strategy(
      {.communication_options = {.implementation = CommunicationImplementation::Nccl}});
  REQUIRE(log.lines.size() == 1);
  CHECK_THAT(log.lines[0], Contains("no GPUs detected/specified"));
}

TEST_CASE("processes train the bits of one process, in shared memory and by TCP",
          "[strategy][multi_worker]") {
  const int workers = GENERATE(2, 3, 5);
  const std::string transport = GENERATE("auto", "tcp");
  CAPTURE(workers, transport);
  const LogicalDevices devices(workers);
  MirroredStrategy mirrored({.num_replicas = workers});
  const std::string want = bits_of_training(mirrored);
  for (const auto& outcome : run(workers, "trains_net", transport.c_str()))
    CHECK(outcome.result.value() == want);
}

namespace {

/// Every replica of every worker makes it.
void make_mistakes(Strategy& strategy) {
  const auto here = [&](const std::function<void()>& mistake) {
    try {
      strategy.run(mistake);
    } catch (const InvalidArgumentError&) {
      return;
    }
    throw InternalError("there was no error");
  };
  const auto refuse = [] { throw InvalidArgumentError("no"); };
  const auto scope = strategy.scope();
  const Variable weight(Tensor{1.0f, 2.0f});
  optim::SGD optimizer;
  here(refuse);
  here([] { matmul(ones({1, 2}), ones({1, 2})); });
  here([&] {
    GradientTape tape;
    const Tensor loss = reduce_sum(weight.value());
    tape.gradient(loss, {weight});
    refuse();
  });
  here([&] {
    get_replica_context()->all_reduce(ReduceOp::Sum, Tensor(1.0f));
    get_replica_context()->merge_call([&](Strategy&) { refuse(); });
  });
}

/// And a callback of fit does.
void fail_in_fit(Strategy& strategy) {
  const auto scope = strategy.scope();
  nn::Sequential net(nn::Dense({.units = 1}));
  optim::SGD optimizer;
  train::Model model(net);
  model.compile({.optimizer = optimizer, .loss = nn::MeanSquaredError()});
  train::LambdaCallback fails(
      {.on_epoch_end = [](int64_t, train::Logs&) { throw InvalidArgumentError("no"); }});
  const auto data = data::Dataset::from_tensor_slices(ones({8, 2}), ones({8, 1})).batch(4);
  try {
    model.fit(data, {.callbacks = {fails}});
  } catch (const InvalidArgumentError&) {
  }
}

}  // namespace

/// The argument: replicas of each worker.
DISTRIBUTE_CLUSTER_MAIN(trains_after_mistakes) {
  MultiWorkerMirroredStrategy strategy({.num_replicas = std::stoi(task.argument())});
  const std::string before = bits_of_training(strategy);
  make_mistakes(strategy);
  const std::string after = bits_of_training(strategy);
  fail_in_fit(strategy);
  task.set_result(before != after                        ? "after mistakes other bits"
                  : before != bits_of_training(strategy) ? "after fit other bits"
                                                         : "the same");
}

TEST_CASE("a mistake that all workers make is the program's error, and the job goes on",
          "[strategy][multi_worker]") {
  const int workers = GENERATE(1, 2), replicas = GENERATE(1, 2);
  const std::string transport = GENERATE("auto", "tcp");
  CAPTURE(workers, replicas, transport);
  ProcessCluster cluster(
      {.workers = workers,
       .function = "trains_after_mistakes",
       .argument = std::to_string(replicas),
       .environment = {{"DISTRIBUTE_TRANSPORT", transport}, {"OMP_NUM_THREADS", "1"}},
       .deadline_seconds = 300});
  for (const auto& outcome : cluster.join()) CHECK(outcome.result == "the same");
}

// The others wait in an operation, of which they are woken; one worker's replicas begin anew.
TEST_CASE("without other workers a mistake of one replica costs nothing",
          "[strategy][multi_worker]") {
  const LogicalDevices devices(2);
  SimpleClusterResolver none{ClusterSpec{}};
  MultiWorkerMirroredStrategy<> strategy(none, {.num_replicas = 2});
  const auto sum = [] { return get_replica_context()->all_reduce(ReduceOp::Sum, Tensor(1.0f)); };
  for (int time = 0; time < 2; ++time) {
    CHECK_THROWS_AS(strategy.run([&] {
      if (get_replica_context()->replica_id_in_sync_group() == time)
        throw ResourceExhaustedError("no memory for the batch");
      sum();
    }),
                    ResourceExhaustedError);
    CHECK(strategy.reduce("SUM", strategy.run(sum)).item<float>() == 4);
  }
}

DISTRIBUTE_CLUSTER_MAIN(names_transport) {
  MultiWorkerMirroredStrategy strategy;
  auto& extended = dynamic_cast<strategy_internal::MultiWorkerExtended&>(strategy.extended());
  task.set_result(extended.group().workers->transport());
}

TEST_CASE("tasks of one host find shared memory", "[strategy][multi_worker]") {
  for (const auto& outcome : run(3, "names_transport", "auto")) CHECK(outcome.result == "shm");
  for (const auto& outcome : run(3, "names_transport", "tcp")) CHECK(outcome.result == "tcp");
}

TEST_CASE("workers of another version of the library are named before the first step",
          "[strategy][multi_worker]") {
  std::vector<net::Listener> listeners;
  ClusterTasks tasks;
  std::vector<std::string> addresses;
  const launch::ReservedPort port;
  addresses.push_back("127.0.0.1:" + std::to_string(port.number()));
  for (int i = 0; i < 2; ++i) {
    listeners.push_back(
        value_or_throw(net::Listener::bind({"127.0.0.1", 0}, net::Deadline::after_seconds(5))));
    addresses.push_back(listeners.back().address().text());
  }
  for (int i = 0; i < 3; ++i) tasks.members.push_back({"worker", i, addresses[size_t(i)]});
  std::vector<std::string> errors(3);
  const auto catching = [&](int rank, auto&& body) {
    try {
      body();
    } catch (const Error& error) {
      errors[size_t(rank)] = error.what();
    }
  };
  std::vector<std::thread> guests;
  for (int rank = 1; rank < 3; ++rank)
    guests.emplace_back([&, rank] {
      catching(rank, [&] {
        ClusterTasks mine = tasks;
        mine.rank = rank;
        const auto runtime = ClusterRuntime::join(mine, {}, std::move(listeners[size_t(rank - 1)]));
        const std::string version = rank == 1 ? kVersion : "99.1.0";
        runtime->agree("the options of the program",
                       R"({"version of distribute": ")" + version + R"("})");
      });
    });
  catching(0, [&] {
    SimpleClusterResolver resolver(ClusterSpec({{"worker", addresses}}),
                                   {.task_type = "worker", .task_id = 0});
    const MultiWorkerMirroredStrategy<> strategy(resolver);
  });
  for (std::thread& guest : guests) guest.join();
  for (const std::string& error : errors)
    CHECK_THAT(error, Contains("/version of distribute differs: \"" + std::string(kVersion) +
                               "\" in worker 0") &&
                          Contains("\"99.1.0\" in worker 2"));
}

TEST_CASE("a transport that cannot be had is refused", "[strategy][multi_worker]") {
  const auto [transport, words] = GENERATE(table<std::string, std::string>(
      {{"carrier pigeon", "'carrier pigeon': wanted auto, tcp, mpi, openmpi, mpich or ucx"},
       {"mpi", "start the job with mpirun"}}));
  ProcessCluster cluster({.workers = 3,
                          .function = "names_transport",
                          .environment = {{"DISTRIBUTE_TRANSPORT", transport}},
                          .deadline_seconds = 300});
  for (const auto& outcome : cluster.wait()) {
    CHECK_FALSE(outcome.status.ok());
    CHECK_THAT(outcome.err, Contains(words));
  }
}

DISTRIBUTE_CLUSTER_MAIN(one_fails) {
  MultiWorkerMirroredStrategy strategy;
  for (int step = 0; step < 3; ++step)
    strategy.run([&] {
      if (task.index() == 1 && step == 2) throw ResourceExhaustedError("no memory for the batch");
      get_replica_context()->all_reduce(ReduceOp::Sum, Tensor(1.0f));
    });
}

TEST_CASE("an error of one worker is the error of all, with its name (case 65)",
          "[strategy][multi_worker]") {
  const std::string transport = GENERATE("auto", "tcp");
  ProcessCluster cluster({.workers = 3,
                          .function = "one_fails",
                          .environment = {{"DISTRIBUTE_TRANSPORT", transport}},
                          .deadline_seconds = 300});
  for (const auto& outcome : cluster.wait()) {
    CHECK_FALSE(outcome.status.ok());
    CHECK_THAT(outcome.err, Contains("no memory for the batch"));
    if (outcome.name != "worker 1") CHECK_THAT(outcome.err, Contains("worker 1"));
  }
}

/// The argument says which worker makes fewer steps than the others.
DISTRIBUTE_CLUSTER_MAIN(one_ends_early) {
  MultiWorkerMirroredStrategy strategy;
  const bool ends_early = task.index() == std::stoi(task.argument());
  for (int step = 0; step < (ends_early ? 3 : 1000); ++step)
    strategy.run([] { get_replica_context()->all_reduce(ReduceOp::Sum, ones({1000})); });
}

TEST_CASE("a worker that ends early ends the waits of the others, with its name",
          "[strategy][multi_worker]") {
  const std::string transport = GENERATE("auto", "tcp");
  const int early = GENERATE(0, 2);
  CAPTURE(transport, early);
  ProcessCluster cluster({.workers = 3,
                          .function = "one_ends_early",
                          .argument = std::to_string(early),
                          .environment = {{"DISTRIBUTE_TRANSPORT", transport}},
                          .deadline_seconds = 300});
  for (const auto& outcome : cluster.wait()) {
    INFO(outcome.err);
    const bool is_early = outcome.name == str_cat("worker ", early);
    CHECK(outcome.status.ok() == is_early);
    if (!is_early)
      CHECK_THAT(outcome.err, Contains(str_cat("worker ", early, " (")) &&
                                  Contains("has left the job, and worker"));
  }
}

DISTRIBUTE_CLUSTER_MAIN(trains_for_ever) {
  MultiWorkerMirroredStrategy strategy;
  for (int step = 0;; ++step) {
    strategy.run([] { get_replica_context()->all_reduce(ReduceOp::Sum, ones({1000})); });
    if (step == 10) std::printf("training\n"), std::fflush(stdout);
  }
}

TEST_CASE("a killed or frozen worker ends the job with its name (cases 62, 63)",
          "[strategy][multi_worker]") {
  const std::string transport = GENERATE("auto", "tcp");
  const int victim = GENERATE(0, 2);
  const int signal = GENERATE(SIGKILL, SIGSTOP);
  CAPTURE(transport, victim, signal);
  ProcessCluster cluster({.workers = 3,
                          .function = "trains_for_ever",
                          .environment = {{"DISTRIBUTE_TRANSPORT", transport},
                                          {"DISTRIBUTE_HEARTBEAT_INTERVAL", "0.2"},
                                          {"DISTRIBUTE_LOST_AFTER", "5"}},
                          .deadline_seconds = 300});
  for (int i = 0; i < 3; ++i) cluster.wait_for_output({"worker", i}, "training");
  cluster.kill({"worker", victim}, signal);
  for (int i = 0; i < 3; ++i) {
    if (i == victim) continue;
    cluster.wait_for_end({"worker", i}, 30);
    CHECK_THAT(cluster.output({"worker", i}),
               Contains(str_cat("worker ", victim)) && Contains("The job has stopped"));
  }
  cluster.kill({"worker", victim}, SIGKILL);
}

TEST_CASE("a limit of elastic workers without elastic workers is refused",
          "[strategy][multi_worker]") {
  SimpleClusterResolver none{ClusterSpec{}};
  CHECK_THROWS_WITH(MultiWorkerMirroredStrategy<>(none, {.elastic = {.max_workers = 4}}),
                    Catch::Contains("set elastic.min_workers to at least 1"));
}

TEST_CASE("clusters that make no sense are refused", "[strategy][multi_worker]") {
  const auto refuse = [](const char* tf_config, const char* words) {
    TFConfigClusterResolver resolver(
        {.variables = Environment(std::map<std::string, std::string>{{"TF_CONFIG", tf_config}})});
    CHECK_THROWS_WITH(MultiWorkerMirroredStrategy(resolver), Contains(words));
  };
  refuse(R"({"cluster": {"worker": ["a:1", "b:2"]}})", "task_type");
  refuse(R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 3}})",
         "exceeds the maximum id");
  refuse(R"({"cluster": {"master": ["a:1"]}, "task": {"type": "master", "index": 0}})",
         "Disallowed task type");
  refuse(R"({"cluster": {"ps": ["a:1"], "worker": ["b:1"]}, "task": {"type": "ps", "index": 0}})",
         "ps");
}
