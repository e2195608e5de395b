/// mnist_cnn --api=horovod: the step written with hvd gives what the strategies give, and goes on
/// when ranks are lost and come.

#include "mnist_cluster.hpp"

#include <tests/support/temporary_directory.hpp>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>

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

std::vector<float> floats(const std::string& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Ranks of a job that two can go on with; a lost update would show in these weights.
ProcessClusterOptions elastic_ranks(const TemporaryDirectory& out, const Words& more) {
  auto options = cluster_options(
      3, Words{"--model=tutorial", "--batch_size=24", "--optimizer=sgd", "--learning_rate=0.01",
               "--api=horovod", "--elastic", "--min_workers=2"} +
             files(out) + more);
  options.environment["DISTRIBUTE_HEARTBEAT_INTERVAL"] = "0.1";
  return options;
}

}  // namespace

TEST_CASE("an elastic job goes on without a rank that is killed, and with it again",
          "[examples][mnist_cnn][horovod][elastic]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory elastic, whole;
  const std::string checkpoints = elastic / "ckpt";
  ProcessCluster cluster(elastic_ranks(
      elastic, {"--steps=300", "--save_steps=150", "--checkpoint_dir=" + checkpoints}));
  cluster.wait_for_output({"worker", 0}, "rank 0 of 3  from step 0");
  cluster.kill({"worker", 1}, SIGKILL);
  cluster.wait_for_output({"worker", 0}, "rank 0 of 2  from step ");
  cluster.wait_for_output({"worker", 2}, "rank 1 of 2  from step ");
  cluster.restart({"worker", 1});
  cluster.wait_for_output({"worker", 0}, "\nrank 0 of 3  from step ");
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  CHECK_THAT(outcomes[1].out, Contains("rank 1 of 3  from step "));
  const Json report = Json::parse(file_text(elastic / "report.json"));
  CHECK(report["steps"] == 300);
  CHECK(report["replicas"] == 3);
  CHECK(std::filesystem::exists(checkpoints + "/ckpt-300.index"));
  // As replicas of one process that made the same steps, but for the order of sums while there were
  // two ranks: that makes 2e-5 after 300 steps with oneDNN's kernels for AVX-512 and 4e-4 with
  // those for AVX2, a step more or less 2e-3.
  const ProgramResult alone = run_program(
      "mnist_cnn",
      Words{"--model=tutorial", "--batch_size=24", "--optimizer=sgd", "--learning_rate=0.01",
            "--strategy=mirrored", "--replicas=3", "--steps=300"} +
          files(whole),
      "env -u TF_CONFIG OMP_NUM_THREADS=1");
  INFO(alone.err);
  REQUIRE(alone.status == 0);
  const auto mine = floats(weights(elastic)), wanted = floats(weights(whole));
  REQUIRE(mine.size() == wanted.size());
  float worst = 0;
  for (size_t i = 0; i < mine.size(); ++i) worst = std::max(worst, std::abs(mine[i] - wanted[i]));
  CHECK(worst < 1e-3f);
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
