/// mnist_cnn --api=horovod: the step written with hvd gives what the strategies give, and goes on
/// when ranks are lost and come.

#include "mnist_cluster.hpp"

#include <tests/support/temporary_directory.hpp>

#include <csignal>
#include <filesystem>
#include <regex>

#include <nlohmann/json.hpp>

using namespace mnist_cluster;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

const Words kShort{"--model=tutorial", "--batch_size=24", "--steps=6"};

Words files(const TemporaryDirectory& out) {
  return {"--final_checkpoint=" + (out / "final"), "--json=" + (out / "report.json")};
}

std::string weights(const TemporaryDirectory& out) {
  const std::string text = file_text(out / "final.data-00000-of-00001");
  CHECK(!text.empty());
  return text;
}

void train(int ranks, const Words& flags) { ProcessCluster(cluster_options(ranks, flags)).join(); }

}  // namespace

TEST_CASE("three ranks give the bits of three workers", "[examples][mnist_cnn][horovod]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const bool overlapped = GENERATE(false, true);  // --loss_csv asks for the summed gradients
  const TemporaryDirectory ranks, workers;
  const auto losses = [&](const TemporaryDirectory& out) {
    return overlapped ? Words{} : Words{"--loss_csv=" + (out / "loss.csv")};
  };
  train(3, kShort + files(ranks) + losses(ranks) + Words{"--api=horovod"});
  train(3, kShort + files(workers) + losses(workers));
  CHECK((weights(ranks) == weights(workers)));
  if (!overlapped) {
    CHECK(!file_text(ranks / "loss.csv").empty());
    CHECK(file_text(ranks / "loss.csv") == file_text(workers / "loss.csv"));
  }
  const Json a = Json::parse(file_text(ranks / "report.json"));
  const Json b = Json::parse(file_text(workers / "report.json"));
  CHECK(a["strategy"] == "horovod");
  for (const char* same : {"workers", "replicas", "global_batch", "steps", "loss", "parameters"})
    CHECK(a[same] == b[same]);
  CHECK(a["test_accuracy"] == b["test_accuracy"]);
  CHECK(a.size() == b.size());
}

TEST_CASE("training resumes from rank 0's checkpoint", "[examples][mnist_cnn][horovod]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory whole, parts;
  const Words flags{"--model=tutorial", "--batch_size=24", "--api=horovod"};
  train(3, flags + files(whole) + Words{"--steps=6"});
  const std::string directory = "--checkpoint_dir=" + (parts / "ckpt");
  // Only rank 0 sees the folder: the others get everything from it.
  const auto run = [&](const char* steps) {
    auto options = cluster_options(3, flags + files(parts) + Words{steps}, {{0, directory}});
    options.command[2] =
        "[ $DISTRIBUTE_LOCAL_RANK = 0 ] || set -- \"$@\" --checkpoint_dir=" + (parts / "other") +
        "; " + options.command[2];
    ProcessCluster(options).join();
  };
  run("--steps=4");
  CHECK(std::filesystem::exists(parts / "ckpt/checkpoint"));
  CHECK_FALSE(std::filesystem::exists(parts / "other"));
  run("--steps=6");
  CHECK((weights(parts) == weights(whole)));
}

TEST_CASE("one rank needs no cluster", "[examples][mnist_cnn][horovod]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory rank, device;
  for (const auto& [out, how] :
       {std::pair{&rank, "--api=horovod"}, std::pair{&device, "--strategy=one_device"}}) {
    const ProgramResult run = run_program("mnist_cnn", kShort + files(*out) + Words{how},
                                          "env -u TF_CONFIG OMP_NUM_THREADS=1");
    INFO(run.err);
    REQUIRE(run.status == 0);
  }
  CHECK((weights(rank) == weights(device)));
}

TEST_CASE("the launcher starts ranks", "[examples][mnist_cnn][horovod]") {
  if (!has_program("mnist_cnn") || !has_program("distribute")) SKIP("the programs were not built");
  const TemporaryDirectory out;
  const ProgramResult run =
      run_program("distribute",
                  Words{"run", "-np", "4", "-H", "localhost:4", "--", kProgram, "--api=horovod"} +
                      kShort + files(out),
                  "OMP_NUM_THREADS=1");
  INFO(run.out << run.err);
  CHECK(run.status == 0);
  CHECK(Json::parse(file_text(out / "report.json"))["workers"] == 4);
}

TEST_CASE("ranks with different flags say which", "[examples][mnist_cnn][horovod]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  ProcessCluster cluster(
      cluster_options(3, kShort + Words{"--api=horovod"}, {{2, "--learning_rate=0.5"}}));
  for (int worker : {0, 1, 2}) cluster.expect_failure({"worker", worker});
  check_all_say(cluster.wait(), "learning_rate=0.5");
}

namespace {

/// Ranks of a job that two can go on with; a lost update would show in these weights.
ProcessClusterOptions elastic_ranks(const TemporaryDirectory& out, const Words& more,
                                    int ranks = 3) {
  auto options = cluster_options(
      ranks, Words{"--model=tutorial", "--batch_size=24", "--optimizer=sgd", "--learning_rate=0.01",
                   "--api=horovod", "--elastic", "--min_workers=2"} +
                 files(out) + more);
  options.environment["DISTRIBUTE_HEARTBEAT_INTERVAL"] = "0.1";
  return options;
}

/// The ranks of a job from a step on.
struct Generation {
  int ranks = 0;
  int64_t from = 0;
};

/// Reads the generations from the output of a rank that is rank 0 in all of them.
std::vector<Generation> generations_in(const std::string& output) {
  const std::regex line("rank 0 of (\\d+)  from step (\\d+)");
  std::vector<Generation> found;
  for (std::sregex_iterator at(output.begin(), output.end(), line), end; at != end; ++at)
    found.push_back({std::stoi((*at)[1]), std::stoll((*at)[2])});
  return found;
}

/// Kills all ranks, the chief last and while it is stopped, so that no further rank is lost before
/// the newest checkpoint. Returns the step of that checkpoint.
int64_t kill_all_at_a_checkpoint(ProcessCluster& cluster, const std::string& checkpoints) {
  cluster.pause({"worker", 0});
  for (int worker : {2, 1, 0}) cluster.kill({"worker", worker}, SIGKILL);
  cluster.join();
  const std::string state = file_text(checkpoints + "/checkpoint");
  std::smatch step;
  REQUIRE(std::regex_search(state, step, std::regex("model_checkpoint_path: \"ckpt-(\\d+)\"")));
  return std::stoll(step[1]);
}

/// Makes the same steps with the same numbers of ranks, by a start for each generation.
void replay(const TemporaryDirectory& out, const std::vector<Generation>& generations,
            int64_t last) {
  for (size_t i = 0; i < generations.size(); ++i) {
    const int64_t end = i + 1 < generations.size() ? generations[i + 1].from : last;
    if (end == generations[i].from) continue;
    ProcessCluster(
        elastic_ranks(out, {"--steps=" + std::to_string(end), "--checkpoint_dir=" + (out / "ckpt")},
                      generations[i].ranks))
        .join();
  }
}

}  // namespace

// The job has no last step, so that no step is too many for the start of a process.
TEST_CASE("an elastic job goes on without a rank that is killed, and with it again",
          "[examples][mnist_cnn][horovod][elastic]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory elastic, whole;
  const std::string checkpoints = elastic / "ckpt";
  const Words saves{"--save_steps=100", "--checkpoint_dir=" + checkpoints};
  ProcessCluster cluster(elastic_ranks(elastic, saves + Words{"--steps=1000000000"}));
  cluster.wait_for_output({"worker", 0}, "rank 0 of 3  from step 0");
  cluster.kill({"worker", 1}, SIGKILL);
  cluster.wait_for_output({"worker", 0}, "rank 0 of 2  from step ");
  cluster.wait_for_output({"worker", 2}, "rank 1 of 2  from step ");
  cluster.restart({"worker", 1});
  cluster.wait_for_output({"worker", 0}, "\nrank 0 of 3  from step ");
  cluster.wait_for_output({"worker", 1}, "rank 1 of 3  from step ");
  const auto generations = generations_in(cluster.output({"worker", 0}));
  const int64_t next = generations.back().from / 100 * 100 + 200;  // after a save with all ranks
  cluster.wait_for_output({"worker", 0}, "\nstep " + std::to_string(next) + " ");
  const int64_t saved = kill_all_at_a_checkpoint(cluster, checkpoints), last = saved + 20;
  CHECK(saved > generations.back().from);
  ProcessCluster again(elastic_ranks(elastic, saves + Words{"--steps=" + std::to_string(last)}));
  const auto outcomes = again.join();
  INFO(all_output(outcomes));
  CHECK_THAT(outcomes[0].out, Contains("rank 0 of 3  from step " + std::to_string(saved)));
  const Json report = Json::parse(file_text(elastic / "report.json"));
  CHECK(report["steps"] == last);
  CHECK(report["replicas"] == 3);
  replay(whole, generations, last);
  CHECK((weights(elastic) == weights(whole)));
}

TEST_CASE("a rank that is told to go leaves the others at work, also when it is the chief",
          "[examples][mnist_cnn][horovod][elastic]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory out;
  ProcessCluster cluster(elastic_ranks(
      out, {"--steps=200", "--save_steps=100", "--checkpoint_dir=" + (out / "ckpt")}));
  cluster.wait_for_output({"worker", 2}, "rank 2 of 3  from step 0");
  cluster.expect_failure({"worker", 0});
  cluster.kill({"worker", 0}, SIGTERM);
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  CHECK(outcomes[0].status.describe() == "exited with status 143");
  CHECK_THAT(outcomes[1].out, Contains("rank 0 of 2  from step ") && Contains("test accuracy"));
  CHECK_THAT(outcomes[2].out, Contains("rank 1 of 2  from step "));
  CHECK(Json::parse(file_text(out / "report.json"))["replicas"] == 2);
  CHECK(std::filesystem::exists(out / "ckpt/ckpt-200.index"));
}

TEST_CASE("an elastic rank with other flags is refused",
          "[examples][mnist_cnn][horovod][elastic]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory out;
  auto options = elastic_ranks(out, {"--steps=40"});
  options.command[2] =
      "[ $DISTRIBUTE_LOCAL_RANK != 2 ] || set -- \"$@\" --learning_rate=0.5; " + options.command[2];
  ProcessCluster cluster(options);
  cluster.expect_failure({"worker", 2});
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  CHECK(outcomes[2].status.describe() == "exited with status 1");
  CHECK_THAT(error_line(outcomes[2].err),
             Contains("rank 0 has learning_rate=0.01, rank 2 learning_rate=0.5"));
  CHECK_THAT(outcomes[0].out, Contains("rank 0 of 2  from step 0"));
}

TEST_CASE("flags that do not go with the Horovod way are refused",
          "[examples][mnist_cnn][horovod]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const ProgramResult unknown = run_program("mnist_cnn", {"--api=mpi"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("--api=mpi is unknown; it takes strategy, horovod"));
  const ProgramResult both =
      run_program("mnist_cnn", {"--api=horovod", "--strategy=mirrored"}, "env -u TF_CONFIG");
  CHECK(both.status == 2);
  CHECK_THAT(both.err, Contains("leave out --strategy and --replicas"));
}
