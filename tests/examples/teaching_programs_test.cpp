/// The programs that teach one way to train each: they learn, with real processes, and leave what
/// they promise.

#include "mnist_cluster.hpp"

#include <distribute/checkpoint/bundle_reader.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/data/jpeg.hpp>
#include <distribute/testing/wait_until.hpp>

#include <tests/data/picture_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/temporary_directory.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

using namespace mnist_cluster;
using Catch::Matchers::Contains;
using distribute::testing::wait_until;
namespace fs = std::filesystem;
namespace data = distribute::data;

namespace {

#define SKIP_WITHOUT(name) \
  if (!has_program(name)) SKIP("the program was not built")

const std::string kDigits = "--data_dir=" DISTRIBUTE_SOURCE_DIR "/examples/mnist_cnn/data";

Words flags_of(const TemporaryDirectory& model_dir, const Words& more = {}) {
  return Words{kDigits, "--model_dir=" + model_dir.path()} + more;
}

ProcessClusterOptions job_of(const std::string& program, int workers, const Words& flags) {
  ProcessClusterOptions options;
  options.workers = workers;
  options.command = Words{DISTRIBUTE_BINARY_DIR "/" + program} + flags;
  options.environment = environment();
  options.deadline_seconds = 120;
  return options;
}

/// The numbers that stand in the text behind each occurrence of `mark`.
std::vector<double> numbers_after(const std::string& text, const std::string& mark) {
  std::vector<double> numbers;
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1))
    numbers.push_back(std::atof(text.c_str() + at + mark.size()));
  return numbers;
}

void check_loss_falls(const std::string& text, const std::string& mark) {
  const auto losses = numbers_after(text, mark);
  REQUIRE(losses.size() > 1);
  CHECK(losses.back() < 0.8 * losses.front());
}

/// The last number behind the mark.
double accuracy_in(const std::string& text, const std::string& mark) {
  const auto numbers = numbers_after(text, mark);
  INFO(text);
  REQUIRE(!numbers.empty());
  return numbers.back();
}

Words small_run(const TemporaryDirectory& pictures, const TemporaryDirectory& model_dir,
                const Words& more) {
  return Words{"--data_dir=" + pictures.path(), "--model_dir=" + model_dir.path(), "--small",
               "--image_size=16", "--batch_size=8"} +
         more;
}

/// Two classes that differ in what is bright.
void write_pictures(const std::string& directory, int each) {
  for (const bool second : {false, true}) {
    fs::create_directories(directory + (second ? "/b" : "/a"));
    for (int i = 0; i < each; ++i)
      data::write_bytes(
          distribute::str_cat(directory, second ? "/b/" : "/a/", i, ".jpg"),
          data::encode_jpeg(data::gradient_image(20, 24, 3, 0.1 * i + (second ? 3.14 : 0))));
  }
}

/// Nothing that a worker has written for itself alone is left.
void check_no_temporary_directories(const TemporaryDirectory& directory) {
  for (const auto& entry : fs::recursive_directory_iterator(directory.path()))
    CHECK_THAT(entry.path().string(), !Contains("workertemp"));
}

}  // namespace

TEST_CASE("mirrored.cpp learns on two devices and restores without a strategy",
          "[examples][teaching]") {
  SKIP_WITHOUT("mnist_cnn_mirrored");
  const TemporaryDirectory directory;
  const ProgramResult run =
      run_program("mnist_cnn_mirrored", flags_of(directory, {"--replicas=2", "--epochs=2"}),
                  "OMP_NUM_THREADS=1");
  INFO(run.out << run.err);
  REQUIRE(run.status == 0);
  CHECK_THAT(run.out, Contains("Number of devices: 2"));
  check_loss_falls(run.out, ", Loss: ");
  const double trained = accuracy_in(run.out, "Test Accuracy: ");
  CHECK(trained > 0.85);
  CHECK(accuracy_in(run.out, "without strategy: ") == trained);
  CHECK(fs::exists(directory / "ckpt-2.index"));
}

TEST_CASE("multi_worker.cpp learns on three workers, whose chief alone leaves files",
          "[examples][teaching][multiproc]") {
  SKIP_WITHOUT("mnist_cnn_multi_worker");
  const TemporaryDirectory directory;
  const Words flags = flags_of(directory, {"--steps=20", "--epochs=2"});
  ProcessCluster cluster(job_of("mnist_cnn_multi_worker", 3, flags));
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  check_loss_falls(outcomes[0].out, "train_loss: ");
  CHECK(outcomes[1].out + outcomes[2].out == "");
  CHECK(fs::exists(directory / "ckpt-1.index"));
  CHECK(fs::exists(directory / "weights.txt"));
  CHECK_FALSE(fs::exists(directory / "backup/chief"));
  check_no_temporary_directories(directory);
}

TEST_CASE("multi_worker.cpp goes on in mid-epoch when it was told to go",
          "[examples][teaching][multiproc]") {
  SKIP_WITHOUT("mnist_cnn_multi_worker");
  const TemporaryDirectory directory;
  // An epoch is longer than any machine needs: both jobs end only because they are told to.
  for (const bool again : {false, true}) {
    ProcessCluster cluster(
        job_of("mnist_cnn_multi_worker", 2, flags_of(directory, {"--steps=1000000"})));
    for (int worker : {0, 1}) cluster.expect_failure({"worker", worker});
    if (again)
      cluster.wait_for_output({"worker", 0}, "goes on with epoch 0, step ");
    else
      wait_until([&] { return fs::exists(directory / "backup/chief/checkpoint"); }, "a backup");
    cluster.kill({"worker", 1}, SIGTERM);
    const auto outcomes = cluster.wait();
    INFO(all_output(outcomes));
    for (const TaskOutcome& outcome : outcomes)
      CHECK(outcome.status.describe() == "exited with status 143");
    if (again) CHECK(accuracy_in(outcomes[0].out, "epoch 0, step ") >= 20);
  }
  check_no_temporary_directories(directory);
}

TEST_CASE("parameter_server.cpp learns with a coordinator, two workers and a server",
          "[examples][teaching][multiproc]") {
  SKIP_WITHOUT("mnist_cnn_parameter_server");
  const TemporaryDirectory directory;
  auto options =
      job_of("mnist_cnn_parameter_server", 2, flags_of(directory, {"--steps=60", "--epochs=2"}));
  options.parameter_servers = 1;
  options.chief = true;
  ProcessCluster cluster(options);
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  CHECK_THAT(outcomes[0].out, Contains("Finished epoch 1, accuracy is "));
  const auto accuracies = numbers_after(outcomes[0].out, ", accuracy is ");
  CHECK(accuracies.back() > accuracies.front());
  CHECK(accuracy_in(outcomes[0].out, "Evaluation accuracy: ") > 0.7);
  const auto keys = distribute::train::BundleReader(directory / "ckpt-2").keys();
  CHECK(std::ranges::count_if(keys, [](const std::string& key) {
          return key.find("/kernel/") != std::string::npos;
        }) == 4);  // of two layers, with a slot each
}

TEST_CASE("between_graph.cpp learns with one server and three workers that count steps together",
          "[examples][teaching][multiproc]") {
  SKIP_WITHOUT("mnist_cnn_between_graph");
  const TemporaryDirectory directory;
  auto options = job_of("mnist_cnn_between_graph", 3, flags_of(directory, {"--steps=150"}));
  options.parameter_servers = 1;
  ProcessCluster cluster(options);
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  for (int worker : {0, 1, 2})
    CHECK_THAT(outcomes[size_t(worker)].out,
               Contains(distribute::str_cat("worker ", worker, ": loss ")));
  CHECK(accuracy_in(outcomes[0].out, "test accuracy ") > 0.7);
  const auto newest = distribute::train::latest_checkpoint(directory.path());
  REQUIRE(newest);
  CHECK(accuracy_in(*newest, "model.ckpt-") >= 150);  // each sees the common count after its step
}

TEST_CASE("horovod.cpp learns with two ranks of the launcher", "[examples][teaching][launch]") {
  SKIP_WITHOUT("mnist_cnn_horovod");
  SKIP_WITHOUT("distribute");
  const TemporaryDirectory directory;
  const ProgramResult run =
      run_program("distribute",
                  Words{"run", "-np", "2", "--", DISTRIBUTE_BINARY_DIR "/mnist_cnn_horovod"} +
                      flags_of(directory, {"--steps=160"}),
                  "OMP_NUM_THREADS=1");
  INFO(run.out << run.err);
  REQUIRE(run.status == 0);
  check_loss_falls(run.out, "Loss: ");
  CHECK(accuracy_in(run.out, "test accuracy ") > 0.7);
  CHECK(fs::exists(directory / "ckpt-1.index"));
}

TEST_CASE("elastic.cpp goes on when a worker is killed, and takes it in again",
          "[examples][teaching][multiproc]") {
  SKIP_WITHOUT("mnist_cnn_elastic");
  const TemporaryDirectory directory;
  auto options = job_of("mnist_cnn_elastic", 3, flags_of(directory, {"--steps=400"}));
  options.environment["DISTRIBUTE_HEARTBEAT_INTERVAL"] = "0.1";
  ProcessCluster cluster(options);
  cluster.wait_for_output({"worker", 0}, "3 workers from step 0");
  cluster.kill({"worker", 1}, SIGKILL);
  cluster.wait_for_output({"worker", 0}, "2 workers from step ");
  cluster.restart({"worker", 1});
  cluster.wait_for_output({"worker", 0}, "\n3 workers from step ");
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  check_loss_falls(outcomes[0].out, " loss ");
  CHECK(accuracy_in(outcomes[0].out, "test accuracy ") > 0.85);
  CHECK(fs::exists(directory / "ckpt-1.index"));
}

TEST_CASE("fit.cpp learns on two devices, and on two workers", "[examples][teaching][multiproc]") {
  SKIP_WITHOUT("mnist_cnn_fit");
  const TemporaryDirectory directory;
  const bool workers = GENERATE(false, true);
  CAPTURE(workers);
  std::string out;
  if (workers) {
    ProcessCluster cluster(job_of("mnist_cnn_fit", 2, flags_of(directory, {"--epochs=2"})));
    out = cluster.join()[0].out;
  } else {
    const ProgramResult run =
        run_program("mnist_cnn_fit", flags_of(directory, {"--epochs=2", "--replicas=2"}),
                    "env -u TF_CONFIG OMP_NUM_THREADS=1");
    INFO(run.out << run.err);
    REQUIRE(run.status == 0);
    out = run.out;
  }
  INFO(out);
  CHECK_THAT(out, Contains("Number of devices: 2"));
  CHECK_THAT(out, Contains("Learning rate for epoch 2 is 0.001"));
  const double first = accuracy_in(out, "Loss fell from ");
  CHECK(accuracy_in(out, " to ") < 0.8 * first);
  CHECK(accuracy_in(out, "Eval accuracy: ") > 0.85);
  CHECK(fs::exists(directory / "ckpt_2.index"));
  CHECK(fs::exists(directory / "logs/train"));
  check_no_temporary_directories(directory);
}

TEST_CASE("estimator.cpp trains on chief and worker, and evaluates in a task of its own",
          "[examples][teaching][multiproc]") {
  SKIP_WITHOUT("mnist_cnn_estimator");
  const TemporaryDirectory directory;
  auto options = job_of("mnist_cnn_estimator", 1, flags_of(directory, {"--steps=120"}));
  options.chief = true;
  options.parameter_servers = 1;
  options.evaluator = true;
  ProcessCluster cluster(options);
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  REQUIRE(outcomes.size() == 4);
  CHECK(accuracy_in(outcomes[3].out, " accuracy ") > 0.7);  // printed by the evaluator alone
  CHECK_THAT(outcomes[0].out + outcomes[1].out, !Contains(" accuracy "));
  CHECK(fs::exists(directory / "checkpoint"));
  CHECK(fs::exists(directory / "eval"));
}

TEST_CASE("resume.cpp goes on in the middle of an epoch with the numbers of an uninterrupted run",
          "[examples][teaching][resnet50]") {
  SKIP_WITHOUT("resnet50_resume");
  if (!distribute::data::has_jpeg()) SKIP("no libjpeg");
  const TemporaryDirectory pictures, directory;
  write_pictures(pictures / "train", 14);  // an epoch is 3.5 batches
  write_pictures(pictures / "val", 4);
  const auto train = [&] {
    return run_program("resnet50_resume",
                       small_run(pictures, directory, {"--save_steps=5", "--steps=16"}),
                       "env -u TF_CONFIG OMP_NUM_THREADS=1");
  };
  const ProgramResult all = train();
  INFO(all.out << all.err);
  REQUIRE(all.status == 0);
  CHECK(numbers_after(all.out, " loss ").size() == 16);
  check_loss_falls(all.out, " loss ");
  CHECK(accuracy_in(all.out, "test accuracy ") > 0.8);
  // As after a crash between step 15, in the middle of the fifth epoch, and the end.
  distribute::train::remove_checkpoint(directory / "ckpt-4");
  fs::remove(directory / "checkpoint");
  const ProgramResult rest = train();
  INFO(rest.out << rest.err);
  REQUIRE(rest.status == 0);
  CHECK_THAT(rest.out, Contains("goes on after step 15\nstep 16 "));
  CHECK_THAT(all.out, Contains(rest.out.substr(rest.out.find("step 16 "))));
}

TEST_CASE("resume.cpp saves on two workers when one is told to go",
          "[examples][teaching][resnet50][multiproc]") {
  SKIP_WITHOUT("resnet50_resume");
  if (!distribute::data::has_jpeg()) SKIP("no libjpeg");
  const TemporaryDirectory pictures, directory;
  write_pictures(pictures / "train", 14);
  ProcessCluster cluster(
      job_of("resnet50_resume", 2, small_run(pictures, directory, {"--steps=1000000"})));
  for (int worker : {0, 1}) cluster.expect_failure({"worker", worker});
  cluster.wait_for_output({"worker", 0}, "step 3 ");
  cluster.kill({"worker", 1}, SIGTERM);
  const auto outcomes = cluster.wait();
  INFO(all_output(outcomes));
  for (const TaskOutcome& outcome : outcomes)
    CHECK(outcome.status.describe() == "exited with status 143");
  CHECK(fs::exists(directory / "checkpoint"));
  check_no_temporary_directories(directory);
}

namespace {

Words text_run(const TemporaryDirectory& model_dir, const Words& more) {
  return Words{"--text=" DISTRIBUTE_SOURCE_DIR "/examples/text_transformer/data/kjv.txt",
               "--model_dir=" + model_dir.path()} +
         more;
}

}  // namespace

TEST_CASE("decoder.cpp learns to continue a text, with blocks computed again the same numbers",
          "[examples][teaching][text]") {
  SKIP_WITHOUT("text_transformer_decoder");
  const auto result_of = [](const Words& more) {
    const TemporaryDirectory directory;
    const ProgramResult run =
        run_program("text_transformer_decoder", text_run(directory, Words{"--steps=20"} + more),
                    "env -u TF_CONFIG OMP_NUM_THREADS=1");
    INFO(run.out << run.err);
    REQUIRE(run.status == 0);
    CHECK(fs::exists(directory / "chief"));
    return run.out.substr(run.out.find("test loss "));
  };
  const std::string plain = result_of({});
  CHECK(accuracy_in(plain, "test loss ") < 3.3);  // log(63) is 4.1
  CHECK_THAT(plain, Contains("\n\nIn the beginning "));
  CHECK(result_of({"--recompute"}) == plain);
  CHECK(accuracy_in(result_of({"--policy=mixed_bfloat16", "--accumulate=2"}), "test loss ") < 3.6);
}

TEST_CASE("decoder.cpp learns on two workers", "[examples][teaching][text][multiproc]") {
  SKIP_WITHOUT("text_transformer_decoder");
  const TemporaryDirectory directory;
  ProcessCluster cluster(
      job_of("text_transformer_decoder", 2, text_run(directory, {"--steps=20"})));
  const auto outcomes = cluster.join();
  INFO(all_output(outcomes));
  CHECK(accuracy_in(outcomes[0].out, "test loss ") < 3.3);
  CHECK(outcomes[1].out.find("test loss") == std::string::npos);
}
