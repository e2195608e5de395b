/// Runs resnet50 as a user would, with good and bad input.

#include "run_output.hpp"

#include <distribute/testing/process_cluster.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/shared_data.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

ProgramResult resnet50(const Words& arguments) {
  return run_program("resnet50", arguments, "OMP_NUM_THREADS=1");
}

Words operator+(Words first, const Words& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

/// A network and pictures that take moments.
const Words kSmall{"--model=resnet8", "--image_size=16", "--num_classes=7", "--batch_size=12"};

void check_complaint(const Words& arguments, int status, const std::string& text) {
  const ProgramResult result = resnet50(arguments);
  INFO(arguments.back() << "\n" << result.err);
  CHECK(result.status == status);
  CHECK_THAT(result.err, Contains(text));
  CHECK(std::count(result.err.begin(), result.err.end(), '\n') == 1);
}

RunOutput train(const Words& more) {
  const TemporaryDirectory out;
  const ProgramResult run = resnet50(kSmall + output_flags(out) + more);
  INFO(run.err);
  REQUIRE(run.status == 0);
  return read_output(out);
}

}  // namespace

TEST_CASE("resnet50 trains in both precisions and writes what it promises",
          "[examples][resnet50]") {
  SKIP_WITHOUT_PROGRAM("resnet50");
  const std::string policy = GENERATE("float32", "mixed_bfloat16");
  const TemporaryDirectory out;
  const ProgramResult run =
      resnet50(kSmall + Words{"--steps=12", "--replicas=2", "--policy=" + policy, "--ema_decay=0.9",
                              "--learning_rate=0.05", "--json=" + (out / "run.json")});
  INFO(run.err);
  REQUIRE(run.status == 0);
  CHECK_THAT(run.out, Contains("step 12  loss ") && Contains("test accuracy 0."));
  const auto json = nlohmann::json::parse(std::ifstream(out / "run.json"));
  CHECK(json["policy"] == policy);
  CHECK(json["replicas"] == 2);
  CHECK(json["steps"] == 12);
  CHECK(json["test_top_5_accuracy"] >= json["test_accuracy"]);
}

TEST_CASE("--width scales the channels of a small network", "[examples][resnet50]") {
  SKIP_WITHOUT_PROGRAM("resnet50");
  const auto parameters = [](const Words& model) {
    const TemporaryDirectory out;
    const Words flags{"--image_size=16", "--num_classes=10", "--batch_size=2", "--steps=1",
                      "--json=" + (out / "result.json")};
    const ProgramResult run = resnet50(flags + model);
    INFO(run.err);
    REQUIRE(run.status == 0);
    return nlohmann::json::parse(file_text(out / "result.json"))["parameters"].get<int>();
  };
  // Kernels between stages grow with the square, the rest in proportion.
  CHECK(parameters({"--model=resnet8", "--width=16"}) == parameters({"--model=resnet8"}));
  const int narrow = parameters({"--model=resnet10", "--width=4"});
  const int wide = parameters({"--model=resnet10", "--width=8"});
  CHECK(wide > 3 * narrow);
  CHECK(wide < 4 * narrow);
}

TEST_CASE("resnet50's loss falls alike in float32 and bfloat16", "[examples][resnet50][learns]") {
  SKIP_WITHOUT_PROGRAM("resnet50");
  const auto last_loss = [](const std::string& policy) {
    const TemporaryDirectory out;
    const ProgramResult run =
        resnet50(kSmall + Words{"--steps=30", "--learning_rate=0.05", "--policy=" + policy,
                                "--json=" + (out / "run.json")});
    REQUIRE(run.status == 0);
    return nlohmann::json::parse(std::ifstream(out / "run.json"))["loss"].get<double>();
  };
  const double wide = last_loss("float32"), narrow = last_loss("mixed_bfloat16");
  CHECK(wide < 1.6);  // of 1.95 at the start
  CHECK(std::abs(wide - narrow) < 0.15);
}

TEST_CASE("three workers of resnet50 do what three replicas do",
          "[examples][resnet50][multiproc]") {
  SKIP_WITHOUT_PROGRAM("resnet50");
  const Words flags{"--steps=6", "--weight_decay=1e-4"};
  const RunOutput replicas = train(flags + Words{"--replicas=3", "--strategy=mirrored"});
  const TemporaryDirectory out;
  distribute::testing::ProcessClusterOptions options;
  options.workers = 3;
  options.command =
      Words{distribute::testing::binary_dir() + "/resnet50"} + kSmall + output_flags(out) + flags;
  options.environment = {{"OMP_NUM_THREADS", "1"}, {"DISTRIBUTE_STARTUP_TIMEOUT", "60"}};
  options.deadline_seconds = 300;
  distribute::testing::ProcessCluster(options).join();
  CHECK(read_output(out) == replicas);
}

TEST_CASE("a resumed run of resnet50 ends with the bits of one that was not stopped",
          "[examples][resnet50]") {
  SKIP_WITHOUT_PROGRAM("resnet50");
  const Words common{"--lr_schedule=constant", "--warmup_steps=0", "--ema_decay=0.9"};
  const RunOutput whole = train(common + Words{"--steps=8"});
  const TemporaryDirectory out;
  const Words flags = kSmall + common + Words{"--checkpoint_dir=" + (out / "ckpt")};
  REQUIRE(resnet50(flags + Words{"--steps=5"}).status == 0);
  const ProgramResult rest = resnet50(flags + Words{"--steps=8"} + output_flags(out));
  REQUIRE(rest.status == 0);
  CHECK_THAT(rest.out, Contains("at step 5"));
  CHECK(read_output(out).weights == whole.weights);
}

TEST_CASE("parts of a batch add up to the batch where batch norm sees the same pictures",
          "[examples][resnet50][batch_norm]") {
  SKIP_WITHOUT_PROGRAM("resnet50");
  // Replicas and parts split a batch alike, so their statistics are the same.
  const Words flags{"--steps=3", "--learning_rate=0.01", "--model=resnet18"};
  const auto losses = [&](const Words& more) {
    std::vector<double> values;
    std::istringstream lines(train(flags + more).losses);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) values.push_back(std::stod(line.substr(line.find(',') + 1)));
    return values;
  };
  const auto parts = losses({"--accumulate_steps=2"}), replicas = losses({"--replicas=2"});
  REQUIRE(parts.size() == replicas.size());
  for (size_t i = 0; i < parts.size(); ++i) CHECK(parts[i] == Approx(replicas[i]).epsilon(1e-3));
}

TEST_CASE("resnet50 learns CIFAR-10's pictures", "[examples][resnet50][learns][slow]") {
  SKIP_WITHOUT_PROGRAM("resnet50");
  const auto data = shared_data("cifar10");
  if (!data) SKIP("the CIFAR-10 data are not there");
  const TemporaryDirectory out;
  const ProgramResult run =
      resnet50({"--dataset=cifar10", "--data_dir=" + *data, "--model=resnet8", "--steps=150",
                "--batch_size=64", "--learning_rate=0.05", "--json=" + (out / "run.json")});
  INFO(run.err);
  REQUIRE(run.status == 0);
  const auto json = nlohmann::json::parse(std::ifstream(out / "run.json"));
  CHECK(json["test_accuracy"] > 0.25);
}

TEST_CASE("wrong flags of resnet50 give one line and status 2", "[examples][resnet50]") {
  SKIP_WITHOUT_PROGRAM("resnet50");
  check_complaint({"--dataset=mnist"}, 2, "synthetic, tfrecord, folder, cifar10, cifar100");
  check_complaint({"--model=vgg"}, 2, "resnet50, resnet8");
  check_complaint({"--image_size=4"}, 2, "--image_size");
  check_complaint({"--width=32"}, 2, "small networks");
  check_complaint({"--num_classes=1"}, 2, "--num_classes");
  check_complaint({"--policy=float8"}, 2, "mixed_bfloat16");
  check_complaint({"--dataset=folder"}, 2, "needs --data_dir");
  check_complaint({"--dataset=cifar10"}, 2, "data_batch_1.bin to data_batch_5.bin");
  check_complaint({"--dataset=cifar100"}, 2, "train.bin and test.bin");
  check_complaint({"--dataset=tfrecord", "--train_files=t-*"}, 2, "records t-* and validation-");
  check_complaint({"--dataset=cifar10", "--data_dir=/tmp", "--image_size=64"}, 2, "32 x 32");
  check_complaint({"--data_dir=/tmp"}, 2, "--dataset=synthetic");
  check_complaint({"--ema_decay=1"}, 2, "[0, 1)");
  check_complaint({"--accumulate_steps=0"}, 2, "--accumulate_steps");
  check_complaint({"--batch_size=9", "--accumulate_steps=2"}, 2, "multiple");
}

TEST_CASE("resnet50 names the place and the cure when data cannot be used",
          "[examples][resnet50]") {
  SKIP_WITHOUT_PROGRAM("resnet50");
  for (const char* dataset : {"tfrecord", "folder", "cifar10"})
    check_complaint({"--dataset=" + std::string(dataset), "--data_dir=/no/such/place"}, 1,
                    "/no/such/place");
  const TemporaryDirectory empty;
  check_complaint({"--dataset=folder", "--data_dir=" + empty.path()}, 1, empty.path());
  check_complaint({"--dataset=cifar10", "--data_dir=" + empty.path()}, 1,
                  empty.path() + ": the binary version of CIFAR has data_batch_1.bin, ");
  check_complaint({"--policy=mixed_float16", "--strategy=parameter_server"}, 2,
                  "use mixed_bfloat16");
  check_complaint({"--steps=1", "--init_checkpoint=/no/such/place/x"}, 1, "/no/such/place/x");
}
