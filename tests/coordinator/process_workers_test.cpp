#include <distribute/base/exit_status.hpp>

#include <tests/coordinator/processes.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/count.hpp>
#include <tests/support/number_of.hpp>
#include <tests/support/temporary_directory.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

using namespace processes;  // NOLINT: tests only
using distribute::testing::ProcessCluster;

namespace {

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

/// What a chief and three workers run: `steps` functions that read a dataset.
struct Program {
  OneDeviceStrategy strategy;
  RemoteFunction<int64_t(data::Iterator&, int)> step{
      "step", [](data::Iterator& it, int number) {
        say("begins " + std::to_string(number));
        const int64_t value = it.next().x.item<int64_t>();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));  // some work
        return value;
      }};
  RemoteFunction<int64_t()> process{"process", [] { return int64_t(::getpid()); }};
  RemoteFunction<Tensor(int64_t)> large{"large", [](int64_t size) { return zeros({size}); }};
  RemoteFunction<void()> fail{"fail", [] { throw InvalidArgumentError("boom"); }};

  PerWorkerDataset numbers(ClusterCoordinator& coordinator) {
    return coordinator.create_per_worker_dataset(
        [](const InputContext&) { return data::Dataset::range(1000).repeat(); });
  }
};

/// Whether this task is a worker, which then has served until its end.
bool worked(Server& server, distribute::testing::ClusterTask& task) {
  if (server.job_name() != "worker") return false;
  task.set_result(std::to_string(server.join()));
  return true;
}

void run_steps(Program& program, ClusterCoordinator& coordinator, int steps) {
  const auto data = program.numbers(coordinator);
  std::vector<RemoteValue<int64_t>> values;
  for (int i = 0; i < steps; ++i) values.push_back(coordinator.schedule(program.step, data, i));
  say("scheduled");
  coordinator.join();
  for (const auto& value : values) value.fetch();
  say("trained");
}

}  // namespace

DISTRIBUTE_CLUSTER_MAIN(coordinator_trains) {
  Program program;
  Server server = server_of_environment();
  if (worked(server, task)) return;
  ClusterCoordinator coordinator = coordinator_of(server, program.strategy);
  run_steps(program, coordinator, std::stoi(task.argument()));
}

TEST_CASE("a chief and three workers run functions and all end", "[coordinator][multiproc]") {
  ProcessCluster cluster({.workers = 3,
                          .chief = true,
                          .function = "coordinator_trains",
                          .argument = "30",
                          .deadline_seconds = 300});
  const auto outcomes = cluster.join();
  for (size_t worker = 1; worker < outcomes.size(); ++worker) {
    CHECK(outcomes[worker].result == "0");
    CHECK(outcomes[worker].out.find("begins ") != std::string::npos);
  }
}

TEST_CASE("workers that are killed, frozen or started again lose nothing",
          "[coordinator][multiproc]") {
  ProcessCluster cluster({.workers = 3,
                          .chief = true,
                          .function = "coordinator_trains",
                          .argument = "400",
                          .deadline_seconds = 300});
  for (int worker = 0; worker < 3; ++worker) cluster.wait_for_output({"worker", worker}, "begins ");
  cluster.restart({"worker", 1});  // at once
  cluster.pause({"worker", 2});
  cluster.wait_for_output({"chief"}, "worker 2 (");
  cluster.wait_for_output({"chief"}, "its functions run elsewhere until it is back");
  cluster.wait_for_output({"chief"}, "is back");
  cluster.kill({"worker", 0});
  cluster.resume({"worker", 2});
  const auto outcomes = cluster.join();
  CHECK(outcomes[0].out.find("trained") != std::string::npos);
  CHECK(outcomes[2].result == "0");
  CHECK(outcomes[2].starts == 2);
  CHECK(outcomes[3].result == "0");
}

DISTRIBUTE_CLUSTER_MAIN(coordinator_returns) {
  Program program;
  Server server = server_of_environment(std::stod(task.argument()));
  if (worked(server, task)) return;
  ClusterCoordinator coordinator = coordinator_of(server, program.strategy);
  run_steps(program, coordinator, task.restarts() == 0 ? 100'000 : 20);
}

TEST_CASE("workers wait for a coordinator that comes back", "[coordinator][multiproc]") {
  ProcessCluster cluster({.workers = 3,
                          .chief = true,
                          .function = "coordinator_returns",
                          .argument = "30",
                          .deadline_seconds = 300});
  for (int worker = 0; worker < 3; ++worker)
    cluster.wait_for_output({"worker", worker}, "begins 1");
  cluster.kill({"chief"});
  cluster.wait_for_end({"chief"});
  cluster.restart({"chief"});
  const auto outcomes = cluster.join();
  CHECK(outcomes[0].out.find("trained") != std::string::npos);
  for (size_t worker = 1; worker < outcomes.size(); ++worker) CHECK(outcomes[worker].result == "0");
}

TEST_CASE("workers end when the coordinator does not come back", "[coordinator][multiproc]") {
  ProcessCluster cluster({.workers = 3,
                          .chief = true,
                          .function = "coordinator_returns",
                          .argument = "0.5",
                          .deadline_seconds = 300});
  const bool freeze = GENERATE(false, true);
  for (int worker = 0; worker < 3; ++worker)
    cluster.wait_for_output({"worker", worker}, "begins 1");
  if (freeze)
    cluster.pause({"chief"});
  else
    cluster.kill({"chief"});
  for (int worker = 0; worker < 3; ++worker) {
    cluster.wait_for_output({"worker", worker}, "was lost and has not returned in time");
    cluster.wait_for_end({"worker", worker});
  }
  if (freeze) cluster.kill({"chief"});
  for (const auto& outcome : cluster.join())
    if (outcome.name != "chief 0") CHECK(outcome.result == std::to_string(kExitRetry));
}

DISTRIBUTE_CLUSTER_MAIN(coordinator_differs) {
  Program program;
  std::unique_ptr<RemoteFunction<void()>> other;
  const bool odd = task.type() == "worker" && task.index() == 1;
  Server server = server_of_environment(odd ? 300 : 0.1);
  const char* const name = odd ? "evaluate" : "predict";
  other = std::make_unique<RemoteFunction<void()>>(name, [] {});
  if (worked(server, task)) return;
  coordinator_of(server, program.strategy);
}

TEST_CASE("a worker with other functions is named, and ends", "[coordinator][multiproc]") {
  ProcessCluster cluster({.workers = 3,
                          .chief = true,
                          .function = "coordinator_differs",
                          .environment = {{"DISTRIBUTE_STARTUP_TIMEOUT", "15"}},
                          .deadline_seconds = 300});
  cluster.wait_for_end({"worker", 1});  // it does not wait for another coordinator
  CHECK_THAT(cluster.output({"worker", 1}),
             Catch::Matchers::Contains("worker 1 ends: remote functions differ: number 5"));
  check_throws<InvalidArgumentError>([&] { cluster.join(); },
                                     "number 5 is function \"predict\" of type void () in the "
                                     "coordinator, and function \"evaluate\" "
                                     "of type void () in worker 1 (127.0.0.1:");
}

DISTRIBUTE_CLUSTER_MAIN(coordinator_errors) {
  Program program;
  Server server = server_of_environment();
  if (worked(server, task)) return;
  ClusterCoordinator coordinator = coordinator_of(server, program.strategy);
  std::string errors;
  try {
    coordinator.schedule(program.fail).fetch();
  } catch (const InvalidArgumentError& error) {
    errors += error.what() + std::string("\n");
  }
  try {
    coordinator.join();
  } catch (const InvalidArgumentError& error) {
    errors += error.what() + std::string("\n");
  }
  const auto size = coordinator.schedule(program.large, int64_t(1) << 20).fetch().num_elements();
  errors += std::to_string(size) + "\n";
  try {
    coordinator.schedule(program.large, int64_t(1) << 25).fetch();
  } catch (const ResourceExhaustedError& error) {
    errors += "too large\n";
  }
  try {
    coordinator.join();
  } catch (const ResourceExhaustedError&) {
  }
  coordinator.schedule(program.process).fetch();
  task.set_result(errors);
}

TEST_CASE("errors and large results come from other processes", "[coordinator][multiproc]") {
  ProcessCluster cluster(
      {.workers = 3, .chief = true, .function = "coordinator_errors", .deadline_seconds = 300});
  const auto outcomes = cluster.join();
  const std::string errors = outcomes[0].result.value();
  CHECK(errors.find("worker ") == 0);
  CHECK(errors.find("): fail: boom\nworker ") != std::string::npos);
  CHECK(errors.find("\n1048576\ntoo large\n") != std::string::npos);
}

/// Worker 2 is not there at first.
DISTRIBUTE_CLUSTER_MAIN(starts_with_two_of_three) {
  if (task.type() == "worker" && task.index() == 2 && task.restarts() == 0) return;
  Program program;
  Server server = server_of_environment();
  if (worked(server, task)) return;
  ClusterCoordinator coordinator = coordinator_of(server, program.strategy);
  say("workers: " + std::to_string(coordinator.num_live_workers()));
  run_steps(program, coordinator, std::stoi(task.argument()));
}

TEST_CASE("a worker joins while functions run, another leaves when it is told to",
          "[coordinator][multiproc]") {
  ProcessCluster cluster({.workers = 3,
                          .chief = true,
                          .function = "starts_with_two_of_three",
                          .argument = "150",
                          .environment = {{"DISTRIBUTE_MIN_WORKERS", "2"}},
                          .deadline_seconds = 300});
  cluster.wait_for_output({"chief", 0}, "workers: 2");
  cluster.wait_for_output({"chief", 0}, "scheduled");
  cluster.restart({"worker", 2});
  cluster.wait_for_output({"worker", 2}, "begins ");
  cluster.kill({"worker", 0}, SIGTERM);
  CHECK(cluster.wait_for_end({"worker", 0}).ok());
  const auto outcomes = cluster.join();
  CHECK(outcomes[0].out.find("trained") != std::string::npos);
  for (size_t worker = 1; worker < outcomes.size(); ++worker) CHECK(outcomes[worker].result == "0");
}

/// Runs functions until the file that the argument names is there; two workers are enough.
DISTRIBUTE_CLUSTER_MAIN(coordinator_trains_until_told) {
  Program program;
  Server server = server_of_environment();
  if (worked(server, task)) return;
  ClusterCoordinator coordinator = coordinator_of(server, program.strategy);
  while (!std::filesystem::exists(task.argument())) run_steps(program, coordinator, 40);
  say("told");
}

/// scripts/elastic_test.sh asks for more rounds.
TEST_CASE("a coordinator's workers are killed, leave and join at random: every function is run",
          "[coordinator][elastic][multiproc]") {
  const int rounds = number_of("DISTRIBUTE_ELASTIC_ROUNDS", 3);
  std::mt19937 random(unsigned(number_of("DISTRIBUTE_ELASTIC_SEED", 1)));
  const TemporaryDirectory directory;
  ProcessCluster cluster({.workers = 4,
                          .chief = true,
                          .function = "coordinator_trains_until_told",
                          .argument = directory / "end",
                          .environment = {{"DISTRIBUTE_MIN_WORKERS", "2"}},
                          .deadline_seconds = 300.0 + 10 * rounds});
  const auto begun = [&](const testing::TaskName& worker) {
    return count(cluster.output(worker), "begins ");
  };
  const auto goes_on = [&](const testing::TaskName& worker) {
    testing::wait_until([&, before = begun(worker)] { return begun(worker) > before; },
                        "worker " + std::to_string(worker.index) + " runs functions", 30);
  };
  for (int worker = 0; worker < 4; ++worker) goes_on({"worker", worker});
  for (int round = 0; round < rounds; ++round) {
    const int first = int(random() % 4), way = int(random() % 3);
    const testing::TaskName victim{"worker", first}, other{"worker", (first + 1) % 4};
    cluster.kill(victim, way == 0 ? SIGKILL : SIGTERM);
    const auto end = cluster.wait_for_end(victim);
    if (way != 0) CHECK(end.ok());
    if (way == 2) {  // two at once
      cluster.kill(other, SIGKILL);
      cluster.wait_for_end(other);
    }
    goes_on({"worker", (first + 2) % 4});
    cluster.restart(victim);
    if (way == 2) cluster.restart(other);
    goes_on(victim);
    goes_on(other);
  }
  std::ofstream(directory / "end") << "now";
  const auto outcomes = cluster.join();
  CHECK(outcomes[0].out.find("told") != std::string::npos);
  for (size_t worker = 1; worker < outcomes.size(); ++worker) CHECK(outcomes[worker].result == "0");
}
