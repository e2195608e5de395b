#include <distribute/optim/sgd.hpp>

#include <tests/coordinator/parameter_server_program.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/count.hpp>
#include <tests/support/number_of.hpp>
#include <tests/support/temporary_directory.hpp>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace processes;  // NOLINT: tests only
using distribute::testing::ProcessCluster;
using distribute::testing::TaskName;
using distribute::testing::wait_until;

namespace {

/// A frozen task is found within two seconds, and no task waits for minutes.
std::map<std::string, std::string> quick_environment() {
  return {{"OMP_NUM_THREADS", "1"},
          {"DISTRIBUTE_HEARTBEAT_INTERVAL", "0.2"},
          {"DISTRIBUTE_LOST_AFTER", "5"},
          {"DISTRIBUTE_STARTUP_TIMEOUT", "60"},
          {"DISTRIBUTE_COORDINATOR_RETURN_TIMEOUT", "30"}};
}

testing::ProcessClusterOptions cluster_of(const std::string& function) {
  return {.workers = 3,
          .parameter_servers = 2,
          .chief = true,
          .function = function,
          .environment = quick_environment(),
          .deadline_seconds = 300};
}

}  // namespace

// Functions with the strategy's own calls inside, and what they leave behind.
DISTRIBUTE_CLUSTER_MAIN(coordinator_counts) {
  TFConfigClusterResolver resolver;
  ParameterServerStrategy strategy(resolver);
  const auto scope = strategy.scope();
  const Variable counter(Tensor(int64_t{0}),
                         {.name = "counter", .aggregation = VariableAggregation::Sum});
  const Variable total(Tensor(0.0f), {.name = "total", .aggregation = VariableAggregation::Sum});
  RemoteFunction count_up("count_up", [&] { counter.assign_add(Tensor(int64_t{1})); });
  RemoteFunction run_and_reduce("run_and_reduce", [&](float value) {
    const auto doubled = strategy.run(
        [&](const Tensor& x) {
          total.assign_add(x);
          return Tensor(2 * x.item<float>());
        },
        Tensor(value));
    return strategy.reduce(ReduceOp::Sum, doubled);
  });
  if (resolver.task_type() != TaskType::Chief) {
    task.set_result(std::to_string(Server(strategy).join()));
    return;
  }
  ClusterCoordinator coordinator(strategy);
  ClusterCoordinator same(strategy);
  std::vector<RemoteValue<Tensor>> doubled;
  for (int i = 0; i < 60; ++i) {
    coordinator.schedule(count_up);
    doubled.push_back(same.schedule(run_and_reduce, float(i)));
  }
  coordinator.join();
  float sum = 0;
  for (const Tensor& one : coordinator.fetch(doubled)) sum += one.item<float>();
  task.set_result(std::to_string(counter.value().item<int64_t>()) + " " +
                  std::to_string(int(total.value().item<float>())) + " " +
                  std::to_string(int(sum)));
}

TEST_CASE("functions change variables, run and reduce", "[coordinator][parameter_server]") {
  ProcessCluster cluster(cluster_of("coordinator_counts"));
  const auto outcomes = cluster.join();
  CHECK(outcomes[0].result == "60 1770 3540");
  for (size_t i = 1; i <= 3; ++i) CHECK(outcomes[i].result == "0");
}

// Another task coordinates, a chief that is none, a strategy that is another.
DISTRIBUTE_CLUSTER_MAIN(coordinator_misused) {
  TFConfigClusterResolver resolver;
  ParameterServerStrategy strategy(resolver);
  std::string errors;
  const auto note = [&](const auto& body) {
    try {
      body();
    } catch (const Error& error) {
      errors += error.what() + std::string("\n");
    }
  };
  const bool chief = resolver.task_type() == TaskType::Chief;
  if (chief) {
    note([&] { Server(strategy).join(); });
    ClusterCoordinator coordinator(strategy);
    const auto dataset = strategy.experimental_distribute_dataset(data::Dataset::range(4).batch(2));
    note([&] { dataset.iterator(); });
    note([&] { dataset.begin(); });
  } else {
    if (resolver.task_type() == TaskType::Worker) note([&] { ClusterCoordinator c(strategy); });
    Server(strategy).join();
  }
  task.set_result(errors);
}

TEST_CASE("roles that are mixed up are told so", "[coordinator][parameter_server]") {
  ProcessCluster cluster(cluster_of("coordinator_misused"));
  const auto outcomes = cluster.join();
  CHECK(outcomes[0].result.value().find("make a ClusterCoordinator there") != std::string::npos);
  const std::string& chief = *outcomes[0].result;
  const std::string unread = "pass this dataset to ClusterCoordinator.create_per_worker_dataset";
  CHECK(chief.find(unread) != chief.rfind(unread));  // two ways to read it, neither does
  CHECK(outcomes[2].result.value().find("the chief coordinates, but this is worker 1") !=
        std::string::npos);
  ParameterServerStrategy alone;
  check_throws<InvalidArgumentError>([&] { ClusterCoordinator c(alone); }, "has no cluster");
  check_throws<InvalidArgumentError>([&] { Server s(alone); }, "has no cluster");
  OneDeviceStrategy other;
  check_throws<InvalidArgumentError>([&] { Server s(other); }, "OneDeviceStrategy");
}

// Every worker dies in its first functions: before, between and after its two updates. Its two
// replicas compute the first one.
DISTRIBUTE_CLUSTER_MAIN(coordinator_counts_updates) {
  TFConfigClusterResolver resolver;
  ParameterServerStrategy strategy(resolver, ParameterServerOptions{.num_replicas = 2});
  const auto scope = strategy.scope();
  std::vector<Variable> variables;
  for (int i = 0; i < 3; ++i) variables.emplace_back(Tensor(0.0f), VariableOptions{.name = "v"});
  const Variable calls(Tensor(int64_t{0}),
                       {.name = "calls", .aggregation = VariableAggregation::Sum});
  optim::SGD optimizer({.learning_rate = 1.0f});
  optimizer.build(variables);
  const auto dies_at = [&](int point) {
    const int life = task.restarts();
    if (task.type() == "worker" && life < 3 && (task.index() + life) % 3 == point) ::raise(SIGKILL);
  };
  const std::vector<Tensor> gradients(variables.size(), Tensor(-0.5f));
  RemoteFunction step("step", [&] {
    dies_at(0);
    strategy.run([&] { optimizer.apply_gradients(gradients, variables); });
    dies_at(1);
    calls.assign_add(Tensor(int64_t{1}));
    optimizer.apply_gradients({Tensor(-1.0f)}, {variables[0]});
    dies_at(2);
  });
  if (resolver.task_type() != TaskType::Chief) {
    task.set_result(std::to_string(Server(strategy).join()));
    return;
  }
  ClusterCoordinator coordinator(strategy);
  for (int i = 0; i < std::stoi(task.argument()); ++i) coordinator.schedule(step);
  coordinator.join();
  std::string counts = std::to_string(calls.value().item<int64_t>()) + " calls, " +
                       std::to_string(optimizer.iterations()) + " steps:";
  for (const Variable& one : variables)
    counts += " " + std::to_string(int(one.value().item<float>()));
  task.set_result(counts);
}

TEST_CASE("every function of killed workers counts once", "[coordinator][parameter_server]") {
  auto options = cluster_of("coordinator_counts_updates");
  options.argument = "300";
  options.auto_restart = true;
  ProcessCluster cluster(options);
  const auto outcomes = cluster.join();
  INFO(cluster.all_output());
  int kills = 0;
  for (const auto& outcome : outcomes) kills += outcome.starts - 1;
  CHECK(kills >= 3);
  CHECK(outcomes[0].result.value() == "300 calls, 600 steps: 600 300 300");
}

// A server dies while functions run, or while a worker is being recovered.
DISTRIBUTE_CLUSTER_MAIN(coordinator_loses_server) {
  TFConfigClusterResolver resolver;
  ParameterServerStrategy strategy(resolver);
  const auto scope = strategy.scope();
  std::vector<Variable> variables;
  for (int i = 0; i < 2; ++i) variables.emplace_back(Tensor(0.0f), VariableOptions{.name = "v"});
  RemoteFunction touch("touch", [&] {
    for (const Variable& one : variables) one.assign_add(Tensor(1.0f));
  });
  if (resolver.task_type() != TaskType::Chief) {
    task.set_result(std::to_string(Server(strategy).join()));
    return;
  }
  ClusterCoordinator coordinator(strategy);
  std::string errors;
  const auto use = [&](const auto& body) {
    try {
      while (true) body();
    } catch (const UnavailableError& error) {
      errors += error.what() + std::string("\n");
    }
  };
  coordinator.schedule(touch);
  coordinator.join();
  say("ready");
  if (task.argument() == "join") use([&] { coordinator.schedule(touch), coordinator.join(); });
  if (task.argument() == "schedule") use([&] { coordinator.schedule(touch); });
  if (task.argument() == "done") use([&] { coordinator.done(); });
  wait_until(
      [&] {
        try {
          coordinator.join();
          return false;
        } catch (const UnavailableError& error) {
          return std::string(error.what()).find("restore the last checkpoint") != std::string::npos;
        }
      },
      "the lost server's error");
  use([&] { coordinator.schedule(touch); });
  use([&] { coordinator.done(); });
  task.set_result(errors);
}

TEST_CASE("a lost parameter server is an UnavailableError everywhere, and the job ends",
          "[coordinator][parameter_server]") {
  auto options = cluster_of("coordinator_loses_server");
  options.argument = GENERATE("join", "schedule", "done");
  options.environment["DISTRIBUTE_COORDINATOR_RETURN_TIMEOUT"] = "1";
  ProcessCluster cluster(options);
  cluster.wait_for_output({"chief"}, "ready");
  if (options.argument == "join") cluster.kill({"worker", 1});
  cluster.kill({"ps", 1});
  for (const TaskName& task : {TaskName{"chief"}, {"worker", 0}, {"worker", 2}, {"ps", 0}})
    cluster.expect_failure(task);
  const auto outcomes = cluster.join();
  const std::string errors = outcomes[0].result.value();
  CHECK(count(errors, "ps 1 (127.0.0.1:") >= 3);
  CHECK(count(errors, "restore the last checkpoint") >= 2);
}

DISTRIBUTE_CLUSTER_MAIN(coordinator_digits) {
  TFConfigClusterResolver resolver;
  ParameterServerStrategy strategy(
      resolver, {.variable_partitioner = {.min_shard_bytes = 64 << 10, .max_shards = 2}});
  const auto scope = strategy.scope();
  try {
    const int status =
        DigitsProgram(strategy).run(resolver.task_type()->name(), task.argument(), 300);
    if (status != 0) throw UnavailableError("status " + std::to_string(status));
  } catch (const Error& error) {
    say(std::string("failed: ") + error.what());
    throw;
  }
}

namespace {

/// After a server's loss training goes on from the last checkpoint, not from an earlier one.
void check_restored(const std::string& out) {
  int64_t saved = 0;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("saved at ")) saved = std::stoll(line.substr(9));
    if (line.starts_with("restored ")) CHECK(std::stoll(line.substr(9)) >= saved);
  }
}

/// A number of the environment, for scripts.
/// Kills, or freezes for a while, one task after the other in a job that trains.
class Trouble {
 public:
  Trouble(ProcessCluster& cluster, int seed) : cluster_(cluster), random_(uint32_t(seed)) {}

  void round(int number) {
    wait_for(kSaves, {"chief"}, 1 + random_() % 2);
    const bool freeze = random_() % 3 == 0;
    const TaskName victim = choose(number % 5);
    std::printf("round %d: %s %s %d\n", number, freeze ? "freezes" : "kills", victim.type.c_str(),
                victim.index);
    servers_killed_ += victim.type == "ps" && !freeze;
    if (!freeze) return cluster_.kill(victim);
    cluster_.pause(victim);
    if (victim.type == "worker") wait_for(kSaves, {"chief"}, 1);  // the others go on
    if (victim.type == "ps") wait_for("failed: ", {"chief"}, 1);
    if (victim.type == "chief") wait_for("s for its return", {"worker", 0}, 1);
    cluster_.resume(victim);
  }
  int servers_killed() const { return servers_killed_; }
  void wait_for_progress() { wait_for(kSaves, {"chief"}, 1); }

 private:
  static constexpr const char* kSaves = "saved at ";

  void wait_for(const std::string& word, const TaskName& task, int times) {
    const int before = count(cluster_.output(task), word);
    wait_until([&] { return count(cluster_.output(task), word) >= before + times; },
               word + " of " + task.type, 60);
  }
  TaskName choose(int kind) {
    if (kind == 3) return {"ps", int(random_() % 2)};
    if (kind == 4) return {"chief", 0};
    return {"worker", int(random_() % 3)};
  }

  ProcessCluster& cluster_;
  std::mt19937 random_;
  int servers_killed_ = 0;
};

}  // namespace

TEST_CASE("training goes on when tasks are killed or frozen again and again",
          "[coordinator][parameter_server][slow]") {
  const TemporaryDirectory directory;
  const int rounds = number_of("DISTRIBUTE_KILL_ROUNDS", 5);
  auto options = cluster_of("coordinator_digits");
  options.argument = directory.path();
  options.auto_restart = true;
  options.deadline_seconds = 300 + 20 * rounds;
  ProcessCluster cluster(options);
  Trouble trouble(cluster, number_of("DISTRIBUTE_KILL_SEED", 7));
  for (int round = 0; round < rounds; ++round) trouble.round(round);
  trouble.wait_for_progress();
  std::ofstream(directory / "may_end") << "yes";
  const auto outcomes = cluster.wait();
  INFO(cluster.all_output());
  for (const auto& outcome : outcomes) CHECK(outcome.status.ok());
  const std::string& out = outcomes[0].out;
  CHECK(count(out, "restored ") >= trouble.servers_killed());
  check_restored(out);
  const size_t at = out.find("accuracy ");
  REQUIRE(at != std::string::npos);
  CHECK(std::atof(out.c_str() + at + 9) > 0.85);
  std::printf("%s\n", out.substr(at, 15).c_str());
}
