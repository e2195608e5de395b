#include <tests/examples/mnist_cluster.hpp>
#include <tests/launch/running_program.hpp>
#include <tests/support/count.hpp>
#include <tests/support/number_of.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <random>

using namespace mnist_cluster;
using Catch::Contains;
using Json = nlohmann::json;

namespace {

ProcessClusterOptions servers_of(const Words& flags, bool chief = false, int servers = 2) {
  ProcessClusterOptions options = cluster_options(3, flags);
  options.parameter_servers = servers;
  options.chief = chief;
  return options;
}

/// How often "step N  accuracy" stands in the output, for every 100th step.
std::map<int, int> printed_steps(const std::string& output, int last) {
  std::map<int, int> counts;
  for (int step = 100; step <= last; step += 100) {
    const std::string text = "step " + std::to_string(step) + "  accuracy";
    for (size_t at = output.find(text); at != std::string::npos; at = output.find(text, at + 1))
      ++counts[step];
  }
  return counts;
}

}  // namespace

TEST_CASE("every 100th step of a job with parameter servers is printed once, in both styles",
          "[examples][parameter_server][multiproc]") {
  const bool chief = GENERATE(false, true);
  CAPTURE(chief);
  const TemporaryDirectory directory;
  const std::string json = directory / "report.json";
  ProcessCluster cluster(
      servers_of({"--model=tutorial", "--steps=200", "--batch_size=20", "--json=" + json}, chief));
  cluster.join();
  CHECK_THAT(cluster.all_output(), !Catch::Matchers::Contains("ClusterCoordinator.schedule"));
  const auto counts = printed_steps(cluster.all_output(), 200);
  CHECK(counts == std::map<int, int>{{100, 1}, {200, 1}});
  const Json report = Json::parse(file_text(json));
  CHECK(report["strategy"] == "parameter_server");
  CHECK(report["workers"] == 3);
  CHECK(report["steps"] == 200);
  CHECK(report["test_accuracy"].get<double>() > 0.8);
}

TEST_CASE("a job with parameter servers goes on from its checkpoint with another number of servers",
          "[examples][parameter_server][multiproc]") {
  const TemporaryDirectory directory;
  const Words flags{"--model=tutorial", "--batch_size=20", "--save_steps=40",
                    "--checkpoint_dir=" + directory.path()};
  ProcessCluster first(servers_of(flags + Words{"--steps=60"}));
  first.join();
  ProcessCluster second(servers_of(flags + Words{"--steps=100"}, false, 1));
  second.join();
  CHECK_THAT(second.all_output(), Contains("restored " + directory.path() + "/ckpt-6"));
}

TEST_CASE("a worker with other flags than the chief's is told which",
          "[examples][parameter_server][multiproc]") {
  const bool chief = GENERATE(false, true);
  CAPTURE(chief);
  ProcessClusterOptions options = servers_of({"--model=tutorial", "--steps=100000"}, chief, 1);
  // DISTRIBUTE_LOCAL_RANK of worker 1.
  options.command = cluster_options(3, {"--model=tutorial", "--steps=100000"},
                                    {{chief ? 2 : 1, "--learning_rate=0.5"}})
                        .command;
  ProcessCluster cluster(options);
  cluster.wait_for_end({"worker", 1});
  CHECK_THAT(error_line(cluster.output({"worker", 1})),
             Contains("worker 1 has learning_rate=0.5, the chief learning_rate=0.001"));
}

namespace {

namespace fs = std::filesystem;

/// Whose checkpoint is the newest that the state file names; 0: none.
int newest_checkpoint(const std::string& directory) {
  const std::string state = file_text(directory + "/checkpoint"), word = "ckpt-";
  const size_t at = state.find(word);
  return at == std::string::npos ? 0 : std::atoi(state.c_str() + at + word.size());
}

/// mnist_cnn on one server and three workers under the launcher, which starts again what is killed.
class KilledJob {
 public:
  KilledJob(const std::string& directory, bool chief, int steps, int rounds)
      : directory_(directory),
        chief_(chief),
        steps_(steps),
        program_({.command =
                      [&] {
                        Words all{distribute::testing::binary_dir() + "/distribute",
                                  "run",
                                  "--ps",
                                  "1",
                                  "-np",
                                  "3"};
                        if (chief) all.push_back("--chief");
                        return all + Words{"--max-restarts",
                                           std::to_string(rounds),
                                           "--",
                                           kProgram,
                                           "--model=tutorial",
                                           "--batch_size=20",
                                           "--save_steps=50",
                                           "--steps=" + std::to_string(steps),
                                           "--checkpoint_dir=" + directory};
                      }(),
                  .environment = environment()}) {}

  /// Kills the task once the job has made `step` steps.
  void kill_at(int step, const std::string& type, int index) {
    wait([&] { return newest_checkpoint(directory_) >= step; }, "step " + std::to_string(step));
    pid_t pid = 0;
    // Another worker, while that one starts again: the job may be at its end before it is there.
    const int tasks = type == "worker" ? 3 : 1;
    const auto find = [&] {
      for (int i = 0; i < tasks && pid == 0; ++i) pid = pid_of(type, (index + i) % tasks);
      return pid != 0;
    };
    wait(find, type);
    const int saved = newest_checkpoint(directory_);
    REQUIRE(::kill(pid, SIGKILL) == 0);
    ++kills_[type];
    if (type != "ps") return;
    // All start again from a checkpoint, and from none that is older.
    const int restored = times("restored ");
    wait([&] { return times("restored ") > restored; }, "the restart");
    const size_t at = program_.out().rfind("restored ");
    CHECK(std::atoi(program_.out().c_str() + program_.out().find("ckpt-", at) + 5) >= saved);
  }

  void check_end(int seed) {
    CHECK(program_.wait(240) == 0);
    INFO(program_.out() << program_.err());
    CHECK(newest_checkpoint(directory_) >= steps_);
    const size_t at = program_.out().find("test accuracy ");
    REQUIRE(at != std::string::npos);
    const double accuracy = std::atof(program_.out().c_str() + at + 14);
    CHECK(accuracy > 0.9);
    // No process is left; shared memory has no name that could be left behind.
    CHECK_THAT(all_command_lines(), !Contains(directory_));
    std::printf(
        "%-14s seed %d: killed %d workers, %d chiefs, %d servers; %d restarts, step %d, "
        "accuracy %.4f\n",
        chief_ ? "coordinator" : "between-graph", seed, kills_["worker"], kills_["chief"],
        kills_["ps"], count(program_.err(), "distribute run: restart "),
        newest_checkpoint(directory_), accuracy);
  }

 private:
  int times(const std::string& word) { return count(program_.out(), word); }

  void wait(const std::function<bool()>& there, const std::string& what) {
    const auto deadline = distribute::net::Deadline::after_seconds(60);
    while (!there()) {
      program_.read_for_a_while();
      INFO(program_.out() << program_.err());
      if (deadline.passed() || program_.process().poll()) FAIL("there is no " + what);
    }
  }
  /// A task of the launcher; 0 while it is not there.
  pid_t pid_of(const std::string& type, int index) {
    const std::string parent = " " + std::to_string(program_.process().pid()) + " ";
    const std::string task =
        R"("task":{"type":")" + type + R"(","index":)" + std::to_string(index) + "}";
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string path = entry.path().string();
      if (std::atoi(entry.path().filename().c_str()) == 0) continue;  // /proc/net and the like
      const std::string stat = file_text(path + "/stat");
      const size_t name_end = stat.rfind(')');  // then state and parent
      if (name_end == std::string::npos || stat.substr(name_end + 3, parent.size()) != parent)
        continue;
      if (file_text(path + "/environ").find(task) != std::string::npos)
        return std::atoi(entry.path().filename().c_str());
    }
    return 0;
  }

  const std::string directory_;
  const bool chief_;
  const int steps_;
  RunningProgram program_;
  std::map<std::string, int> kills_;
};

}  // namespace

TEST_CASE("a job with a server trains on when its tasks are killed",
          "[examples][parameter_server][launch]") {
  if (!has_program("mnist_cnn") || !has_program("distribute")) SKIP("the programs were not built");
  const bool chief = GENERATE(false, true);
  CAPTURE(chief);
  const int rounds = number_of("DISTRIBUTE_KILL_ROUNDS", 3);
  const int seed = number_of("DISTRIBUTE_KILL_SEED", 1);
  const int step = 150, steps = step * (rounds + 2);
  const TemporaryDirectory directory;
  KilledJob job(directory.path(), chief, steps, rounds);
  std::mt19937 random{uint32_t(seed)};
  for (int round = 1; round <= rounds; ++round) {
    // Every third time the server; in between any worker, and now and then the chief.
    const int victim = int(random() % (chief ? 4 : 3));
    const bool server = round % 3 == 0;
    const std::string type = server ? "ps" : victim == 3 ? "chief" : "worker";
    job.kill_at(round * step + int(random() % 50), type, server || victim == 3 ? 0 : victim);
  }
  job.check_end(seed);
}

namespace {

/// Three workers end with this status and text, and then the server names the chief.
void check_all_fail(const ProcessClusterOptions& options, int status, const std::string& text) {
  ProcessCluster cluster(options);
  for (int worker : {0, 1, 2}) cluster.expect_failure({"worker", worker});
  cluster.expect_failure({"ps", 0});
  const auto outcomes = cluster.wait();
  INFO(all_output(outcomes));
  for (const TaskOutcome& outcome : outcomes) {
    const bool server = outcome.name.starts_with("ps");
    CHECK(outcome.status.code == (server ? 138 : status));
    CHECK_THAT(outcome.err, Contains(server ? "the chief, worker 0 (" : text));
    if (server) CHECK_THAT(outcome.err, Contains("has ended by an error of its own"));
  }
}

}  // namespace

TEST_CASE("servers end soon when the workers have ended by an error of their own",
          "[examples][parameter_server][multiproc]") {
  ProcessClusterOptions options =
      servers_of({"--strategy=parameter_server", "--batch_size=1000000"}, false, 1);
  // At most 20 s, whatever the time for a chief that was lost; the test need not wait so long.
  options.environment["DISTRIBUTE_COORDINATOR_RETURN_TIMEOUT"] = "1";
  check_all_fail(options, 2, "is larger than the training data");
}

TEST_CASE("servers end soon when the workers have ended by a wrong flag, before they connected",
          "[examples][parameter_server][multiproc]") {
  const std::string wrong = GENERATE("--batch_size=0", "--batch_sise=100");
  CAPTURE(wrong);
  const TemporaryDirectory directory;
  const std::string ready = directory / "ready";
  ProcessClusterOptions options = servers_of({"--strategy=parameter_server"}, false, 1);
  // At most 20 s; the test need not wait so long.
  options.environment["DISTRIBUTE_STARTUP_TIMEOUT"] = "10";
  options.command[2] =
      "case $TF_CONFIG in *'\"type\":\"ps\"'*) export DISTRIBUTE_READY_FILE=" + ready +
      ";; *) until [ -e " + ready + " ]; do sleep 0.05; done; set -- \"$@\" " + wrong +
      ";; esac; exec \"$0\" \"$@\"";
  check_all_fail(options, 2, wrong.substr(0, wrong.find('=')));
}
