/// mnist_cnn --api=horovod: the step written with hvd gives what the strategies give.

#include "mnist_cluster.hpp"

#include <tests/support/temporary_directory.hpp>

#include <filesystem>

#include <nlohmann/json.hpp>

using namespace mnist_cluster;
using Catch::Matchers::Contains;
using Json = nlohmann::json;

namespace {

#define SKIP_WITHOUT_PROGRAM() \
  if (!has_program("mnist_cnn")) SKIP("the program was not built")

const Words kShort{"--model=tutorial", "--batch_size=24", "--steps=6"};

Words files(const TemporaryDirectory& out) {
  return {"--final_checkpoint=" + (out / "final"), "--json=" + (out / "report.json")};
}

std::string weights(const TemporaryDirectory& out) {
  const std::string text = contents(out / "final.data-00000-of-00001");
  CHECK(!text.empty());
  return text;
}

void train(int ranks, const Words& flags) { ProcessCluster(cluster_options(ranks, flags)).join(); }

}  // namespace

TEST_CASE("three ranks give the bits of three workers", "[examples][mnist_cnn][horovod]") {
  SKIP_WITHOUT_PROGRAM();
  const bool overlapped = GENERATE(false, true);  // --loss_csv asks for the summed gradients
  const TemporaryDirectory ranks, workers;
  const auto losses = [&](const TemporaryDirectory& out) {
    return overlapped ? Words{} : Words{"--loss_csv=" + (out / "loss.csv")};
  };
  train(3, kShort + files(ranks) + losses(ranks) + Words{"--api=horovod"});
  train(3, kShort + files(workers) + losses(workers));
  CHECK((weights(ranks) == weights(workers)));
  if (!overlapped) {
    CHECK(!contents(ranks / "loss.csv").empty());
    CHECK(contents(ranks / "loss.csv") == contents(workers / "loss.csv"));
  }
  const Json a = Json::parse(contents(ranks / "report.json"));
  const Json b = Json::parse(contents(workers / "report.json"));
  CHECK(a["strategy"] == "horovod");
  for (const char* same : {"workers", "replicas", "global_batch", "steps", "loss", "parameters"})
    CHECK(a[same] == b[same]);
  CHECK(a["test_accuracy"] == b["test_accuracy"]);
  CHECK(a.size() == b.size());
}

TEST_CASE("training resumes from rank 0's checkpoint", "[examples][mnist_cnn][horovod]") {
  SKIP_WITHOUT_PROGRAM();
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
  SKIP_WITHOUT_PROGRAM();
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
  CHECK(Json::parse(contents(out / "report.json"))["workers"] == 4);
}

TEST_CASE("ranks with different flags say which", "[examples][mnist_cnn][horovod]") {
  SKIP_WITHOUT_PROGRAM();
  ProcessCluster cluster(
      cluster_options(3, kShort + Words{"--api=horovod"}, {{2, "--learning_rate=0.5"}}));
  for (int worker : {0, 1, 2}) cluster.expect_failure({"worker", worker});
  check_all_say(cluster.wait(), "learning_rate=0.5");
}

TEST_CASE("flags that do not go with the Horovod way are refused",
          "[examples][mnist_cnn][horovod]") {
  SKIP_WITHOUT_PROGRAM();
  const ProgramResult unknown = run_program("mnist_cnn", {"--api=mpi"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("--api=mpi is unknown; it takes strategy, horovod"));
  const ProgramResult both =
      run_program("mnist_cnn", {"--api=horovod", "--strategy=mirrored"}, "env -u TF_CONFIG");
  CHECK(both.status == 1);
  CHECK_THAT(both.err, Contains("leave out --strategy and --replicas"));
}
