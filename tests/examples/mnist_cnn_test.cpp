/// Runs the program as a user would, with good and bad input.

#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

ProgramResult mnist_cnn(std::vector<std::string> arguments) {
  return run_program("mnist_cnn", arguments, "OMP_NUM_THREADS=1");
}

/// Lines on stderr but for those of the log, such as the one about 16-bit products.
int complaints(const std::string& err) {
  std::istringstream lines(err);
  int count = 0;
  for (std::string line; std::getline(lines, line);) count += !line.starts_with("distribute: ");
  return count;
}

/// One complaint on stderr that holds `text`, and the status.
void check_complaint(const std::vector<std::string>& arguments, int status,
                     const std::string& text) {
  const ProgramResult result = mnist_cnn(arguments);
  INFO(arguments.back() << "\n" << result.err);
  CHECK(result.status == status);
  CHECK_THAT(result.err, Contains(text));
  CHECK(complaints(result.err) == 1);
}

std::string bundled(const std::string& name) {
  return distribute::testing::source_dir() + "/examples/mnist_cnn/data/" + name;
}

/// A copy of the bundled digits that a test may damage.
void copy_digits(const TemporaryDirectory& to) {
  for (const auto& file : fs::directory_iterator(bundled("")))
    fs::copy(file.path(), to / file.path().filename().string());
}

std::vector<std::string> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("mnist_cnn trains and writes what it promises", "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory out;
  const ProgramResult run =
      mnist_cnn({"--model=tutorial", "--steps=100", "--replicas=2", "--json=" + (out / "run.json"),
                 "--loss_csv=" + (out / "loss.csv"), "--final_checkpoint=" + (out / "final"),
                 "--logdir=" + (out / "logs")});
  INFO(run.err);
  REQUIRE(run.status == 0);
  CHECK_THAT(run.out, Contains("step 100  loss "));
  CHECK_THAT(run.out, Contains("test accuracy 0."));
  const auto json = nlohmann::json::parse(std::ifstream(out / "run.json"));
  const std::set<std::string> expected{"strategy",
                                       "device",
                                       "replicas",
                                       "workers",
                                       "policy",
                                       "global_batch",
                                       "steps",
                                       "images_per_second",
                                       "step_ms_p50",
                                       "step_ms_p95",
                                       "seconds_to_first_step",
                                       "loss",
                                       "test_loss",
                                       "test_accuracy",
                                       "parameters",
                                       "peak_rss_bytes",
                                       "peak_gpu_bytes"};
  std::set<std::string> names;
  for (const auto& [name, value] : json.items()) names.insert(name);
  CHECK(names == expected);
  CHECK(json["replicas"] == 2);
  CHECK(json["parameters"] == 32 * 10 + 13 * 13 * 32 * 128 + 128 + 1290);
  CHECK(json["test_accuracy"] > 0.8);
  const auto lines = lines_of(out / "loss.csv");
  REQUIRE(lines.size() == 101);
  CHECK(lines[0] == "step,loss,grad_norm");
  CHECK(lines[1].rfind("0,2.3", 0) == 0);
  CHECK(fs::exists(out / "final.index"));
  CHECK(!fs::is_empty(out / "logs"));
}

TEST_CASE("the losses of a run that was killed go on behind those of its checkpoint",
          "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory out;
  const auto train = [&](const std::string& name, int steps) {
    const ProgramResult run =
        mnist_cnn({"--model=tutorial", "--steps=" + std::to_string(steps),
                   "--checkpoint_dir=" + (out / name), "--loss_csv=" + (out / name + ".csv")});
    INFO(run.err);
    REQUIRE(run.status == 0);
    return lines_of(out / name + ".csv");
  };
  const auto wanted = train("whole", 12);
  train("killed", 6);
  // Steps behind the checkpoint, and a row that the kill cut off.
  std::ofstream(out / "killed.csv", std::ios::app) << "6,9,9\n7,9,9\n8,9";
  CHECK(train("killed", 12) == wanted);
  CHECK(wanted.size() == 13);
}

TEST_CASE("a run that resumes with other data says what has changed and how to go on",
          "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory out;
  const std::string here = "--checkpoint_dir=" + (out / "ckpt");
  REQUIRE(mnist_cnn({"--steps=4", here}).status == 0);
  check_complaint({"--steps=8", "--batch_size=40", here}, 1, "the batch size is 40, it was 50");
  check_complaint({"--steps=8", "--seed=2", here}, 1, "the shuffle's seed is 2, it was 1");
  check_complaint({"--steps=8", "--noshuffle", here}, 1, "--norestore_position does that");
  const ProgramResult run =
      mnist_cnn({"--steps=8", "--batch_size=40", "--seed=2", "--norestore_position", here});
  INFO(run.err);
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("at step 4"));
}

TEST_CASE("a run that is resumed takes the same steps as one that was not stopped",
          "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory out;
  const std::string common = "--model=tutorial";
  REQUIRE(mnist_cnn({common, "--steps=12", "--loss_csv=" + (out / "whole.csv")}).status == 0);
  const std::string directory = "--checkpoint_dir=" + (out / "ckpt");
  REQUIRE(mnist_cnn({common, "--steps=7", directory}).status == 0);
  const ProgramResult rest =
      mnist_cnn({common, "--steps=12", directory, "--loss_csv=" + (out / "rest.csv")});
  REQUIRE(rest.status == 0);
  CHECK_THAT(rest.out, Contains("at step 7"));
  const auto whole = lines_of(out / "whole.csv"), resumed = lines_of(out / "rest.csv");
  REQUIRE(resumed.size() == 6);
  CHECK(std::vector<std::string>(whole.begin() + 8, whole.end()) ==
        std::vector<std::string>(resumed.begin() + 1, resumed.end()));
}

TEST_CASE("wrong flags of mnist_cnn give one line and status 2", "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  check_complaint({"--no_such_flag=1"}, 2, "unknown flag --no_such_flag");
  check_complaint({"--bach_size=5"}, 2, "did you mean --batch_size?");
  check_complaint({"--steps=many"}, 2, "bad value 'many'");
  check_complaint({"--steps=0"}, 2, "--steps must be at least 1");
  check_complaint({"--batch_size=0"}, 2, "--batch_size must be at least 1");
  check_complaint({"--replicas=0"}, 2, "--replicas");
  check_complaint({"--optimizer=sdg"}, 2, "adam, sgd");
  check_complaint({"--strategy=none"}, 2, "mirrored");
  check_complaint({"--strategy=one_device", "--replicas=2"}, 2, "one replica");
  check_complaint({"--replicas=1000000"}, 2, "at most 1024");
  check_complaint({"--beta_1=2"}, 2, "--beta_1 must be in [0, 1)");
  check_complaint(
      {"--optimizer=sgd", "--beta_1=0.5"}, 2,
      "--beta_1 does nothing with --optimizer=sgd; it is for --optimizer=adam or adamw");
  check_complaint({"--strategy=mirrored", "--sync_replicas=2"}, 2,
                  "it is for --strategy=parameter_server");
  check_complaint({"--sync_replicas=2"}, 2, "does nothing with --strategy=mirrored");
  check_complaint({"--api=horovod", "--bf16_on_wire"}, 2, "does nothing with --api=horovod");
  check_complaint({"--strategy=mirrored", "--elastic"}, 2,
                  "--elastic does nothing with --strategy=mirrored; it is for "
                  "--strategy=multi_worker or --api=horovod");
  check_complaint({"--strategy=central_storage", "--shard_optimizer_state"}, 2,
                  "it is for --strategy=mirrored or multi_worker");
  check_complaint({"--rho=-1"}, 2, "--rho must be in [0, 1)");
  check_complaint({"--momentum=2"}, 2, "--momentum must be in [0, 1]");
  check_complaint({"--warmup_steps=-1"}, 2, "--warmup_steps must be at least 0");
  check_complaint({"--model=resnet"}, 2, "book, tutorial");
  check_complaint({"--label_smoothing=1"}, 2, "[0, 1)");
  check_complaint({"surplus"}, 2, "unexpected argument 'surplus'");
  check_complaint({"--cuda_graph=nonsense"}, 2, "auto, true, false");
  check_complaint({"--device=cpu", "--cuda_graph=true"}, 2,
                  "--cuda_graph=true: it takes replicas on GPUs");
}

TEST_CASE("mnist_cnn names the file and the cure when data cannot be used",
          "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  check_complaint({"--data_dir=/no/such/place"}, 1, "/no/such/place");
  check_complaint({"--batch_size=10000"}, 2, "9000 images");
  {
    const TemporaryDirectory data;
    copy_digits(data);
    fs::resize_file(data / "train-images-idx3-ubyte.gz", 1000);
    check_complaint({"--data_dir=" + data.path()}, 1, "train-images-idx3-ubyte.gz");
    fs::remove(data / "train-images-idx3-ubyte.gz");
    std::ofstream images(data / "train-images-idx3-ubyte", std::ios::binary);
    images.write("\0\0\x08\x03\0\0\x23\x28\0\0\0\x20\0\0\0\x20", 16);
    images << std::string(9000 * 32 * 32, '\x01');
    images.close();
    check_complaint({"--data_dir=" + data.path()}, 1, "32 x 32 pixels; the networks take 28 x 28");
  }
  const TemporaryDirectory data;
  copy_digits(data);
  fs::remove(data / "train-labels-idx1-ubyte.gz");
  std::ofstream labels(data / "train-labels-idx1-ubyte", std::ios::binary);
  labels.write("\0\0\x08\x01\0\0\x23\x28", 8);
  labels << std::string(9000, '\x0a');
  labels.close();
  check_complaint({"--data_dir=" + data.path()}, 1, "label");
  fs::copy_file(data / "train-labels-idx1-ubyte", data / "train-images-idx3-ubyte");
  fs::remove(data / "train-images-idx3-ubyte.gz");
  check_complaint({"--data_dir=" + data.path()}, 1, "train-images-idx3-ubyte");
}

TEST_CASE("results that cannot be written are found before training", "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  check_complaint({"--steps=1", "--json=/no/such/place/x.json"}, 1, "/no/such/place");
  check_complaint({"--steps=1", "--final_checkpoint=/no/such/place/x"}, 1, "/no/such/place");
  check_complaint({"--steps=1", "--loss_csv=/no/such/place/x"}, 1, "/no/such/place");
  check_complaint({"--steps=1", "--checkpoint_dir=" + bundled("README.md")}, 1, "README.md");
  check_complaint({"--steps=1", "--init_checkpoint=/no/such/place/x"}, 1, "/no/such/place/x");
}

TEST_CASE("a loss that is no number ends training with its step and variable",
          "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const ProgramResult run = mnist_cnn({"--model=tutorial", "--optimizer=sgd", "--learning_rate=10",
                                       "--weight_decay=100000", "--steps=50"});
  CHECK(run.status == 1);
  CHECK_THAT(run.err, Contains("the loss became") && Contains("at step") && Contains("variable"));
}

TEST_CASE("weights that the last update has spoiled are not saved", "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory out;
  const std::string directory = "--checkpoint_dir=" + (out / "ckpt");
  REQUIRE(mnist_cnn({"--model=tutorial", "--steps=3", directory}).status == 0);
  // Without it weights that no image has reached are divided by nothing.
  const ProgramResult run =
      mnist_cnn({"--model=tutorial", "--epsilon=0", "--steps=4", directory,
                 "--final_checkpoint=" + (out / "final"), "--json=" + (out / "run.json")});
  CHECK(run.status == 1);
  CHECK_THAT(run.err, Contains("became nan or infinite at step 4"));
  CHECK(distribute::train::latest_checkpoint(out / "ckpt") == out / "ckpt/ckpt-1");
  CHECK_FALSE(fs::exists(out / "final.index"));
  CHECK_FALSE(fs::exists(out / "run.json"));
}

TEST_CASE("mixed precision trains, with several replicas, too", "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const std::string policy = GENERATE("mixed_bfloat16", "mixed_float16");
  for (const char* more : {"--model=book", "--replicas=2", "--strategy=one_device"}) {
    const TemporaryDirectory out;
    const ProgramResult run =
        mnist_cnn({"--model=tutorial", "--policy=" + policy, "--steps=40", more,
                   "--loss_csv=" + (out / "loss.csv"), "--json=" + (out / "run.json")});
    CHECK(run.status == 0);
    const auto report = nlohmann::json::parse(std::ifstream(out / "run.json"));
    CHECK(report["policy"] == policy);
    CHECK(report["loss"].get<double>() < 2.0);
  }
}

TEST_CASE("mixed_float16 goes on with its loss scale, and gives the same weights",
          "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory out;
  const auto train = [&](const char* steps, const std::string& directory) {
    const std::string final = out / ("final_" + directory);
    CHECK(mnist_cnn({"--model=tutorial", "--policy=mixed_float16", steps,
                     "--checkpoint_dir=" + (out / directory), "--final_checkpoint=" + final})
              .status == 0);
    std::vector<std::vector<float>> weights;
    distribute::train::BundleReader reader(final);
    for (const std::string& key : reader.keys()) weights.push_back(reader.read_values<float>(key));
    return weights;
  };
  const auto whole = train("--steps=20", "whole");
  CHECK(train("--steps=8", "parts") != whole);
  CHECK(train("--steps=20", "parts") == whole);
  distribute::train::BundleReader state(*distribute::train::latest_checkpoint(out / "parts"));
  const std::string attributes = "/.ATTRIBUTES/VARIABLE_VALUE";
  CHECK(state.read_values<int64_t>("optimizer/step_counter" + attributes) ==
        std::vector<int64_t>{20});
  CHECK(state.read_values<float>("optimizer/dynamic_scale" + attributes) ==
        std::vector<float>{32768});
}

TEST_CASE("gradients that overflow whatever the loss scale are an error", "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const auto complaint = [](const char* rate, const char* words) {
    check_complaint({"--model=tutorial", "--policy=mixed_float16", "--steps=40", "--optimizer=sgd",
                     "--learning_rate=" + std::string(rate)},
                    1, words);
  };
  complaint("300", "overflow float16 whatever the loss scale; try a smaller --learning_rate");
  complaint("1e6", "the loss became nan");
  complaint("1e6", "--learning_rate");
}

TEST_CASE("results that do not fit on the disk are an error", "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  check_complaint({"--model=tutorial", "--steps=2", "--loss_csv=/dev/full"}, 1,
                  "No space left on device");
  check_complaint({"--model=tutorial", "--steps=2", "--json=/dev/full"}, 1, "/dev/full");
}

TEST_CASE("--help lists the flags in groups", "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const ProgramResult run = mnist_cnn({"--help"});
  CHECK(run.status == 0);
  size_t at = 0;
  for (const char* line :
       {"\n  The job\n    --strategy=", "\n  What is trained, on what\n    --model=",
        "\n  The optimizer\n    --optimizer=", "\n  Arithmetic\n    --", "\n  Files\n    --",
        "\n  The cluster, instead of TF_CONFIG\n    --job_name="}) {
    CAPTURE(line);
    at = run.out.find(line, at);
    REQUIRE(at != std::string::npos);
  }
  const ProgramResult short_form = mnist_cnn({"-h"});
  CHECK(short_form.status == 0);
  CHECK(short_form.out == run.out);
  CHECK_THAT(run.out, Contains("--batch_size") && Contains("--checkpoint_dir"));
  CHECK_THAT(run.out, Contains("[auto|cpu|gpu]"));  // from the rule
}

TEST_CASE("a disk that fills up during a save leaves the checkpoint before it whole",
          "[examples][mnist_cnn]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const TemporaryDirectory out;
  const std::string directory = "--checkpoint_dir=" + (out / "ckpt");
  REQUIRE(mnist_cnn({"--model=tutorial", "--steps=3", directory}).status == 0);
  {
    const FileSizeLimit full(1 << 20);  // inherited by the program
    const ProgramResult run = mnist_cnn({"--model=tutorial", "--steps=6", directory});
    CHECK(run.status == 1);
    CHECK_THAT(run.err, Contains(out / "ckpt"));
  }
  CHECK(distribute::train::latest_checkpoint(out / "ckpt") == out / "ckpt/ckpt-1");
  const ProgramResult again = mnist_cnn({"--model=tutorial", "--steps=6", directory});
  CHECK(again.status == 0);
  CHECK_THAT(again.out, Contains("at step 3"));
  for (const auto& file : fs::directory_iterator(out / "ckpt"))
    CHECK(file.path().string().find("tempstate") == std::string::npos);
}
