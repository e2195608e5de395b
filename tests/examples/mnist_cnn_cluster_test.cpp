/// mnist_cnn on several workers: the same numbers as in one process and in TensorFlow.

#include "mnist_cluster.hpp"
#include "run_output.hpp"

#include <distribute/checkpoint/bundle.hpp>

#include <tests/support/control_group.hpp>
#include <tests/support/shared_data.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <cmath>
#include <filesystem>
#include <regex>
#include <set>

#include <nlohmann/json.hpp>

using namespace mnist_cluster;
using Catch::Matchers::Contains;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// What must be the same bits.
struct Result {
  std::string losses, weights, index;
  bool operator==(const Result&) const = default;
};

Result read_result(const TemporaryDirectory& out) {
  const Result result{file_text(out / "loss.csv"), file_text(out / "final.data-00000-of-00001"),
                      file_text(out / "final.index")};
  CHECK(!result.losses.empty());
  CHECK(!result.weights.empty());
  return result;
}

Result train_alone(const Words& flags, int replicas) {
  const TemporaryDirectory out;
  const ProgramResult run =
      run_program("mnist_cnn",
                  flags + output_flags(out) +
                      Words{"--replicas=" + std::to_string(replicas), "--strategy=mirrored"},
                  "OMP_NUM_THREADS=1");
  INFO(run.err);
  REQUIRE(run.status == 0);
  return read_result(out);
}

Result train_workers(const Words& flags, int workers, const std::string& transport = "") {
  const TemporaryDirectory out;
  auto options = cluster_options(workers, flags + output_flags(out));
  options.environment["DISTRIBUTE_TRANSPORT"] = transport;
  ProcessCluster(options).join();
  return read_result(out);
}

const Words kShort{"--model=tutorial", "--batch_size=24", "--steps=6"};

/// The final weights of a run that reduces its gradients as it likes: with --loss_csv it may not,
/// as their norm is asked for.
std::string weights_alone(const Words& flags, int replicas) {
  const TemporaryDirectory out;
  const ProgramResult run =
      run_program("mnist_cnn",
                  flags + Words{"--final_checkpoint=" + (out / "final"),
                                "--replicas=" + std::to_string(replicas), "--strategy=mirrored"},
                  "OMP_NUM_THREADS=1");
  INFO(run.err);
  REQUIRE(run.status == 0);
  return file_text(out / "final.data-00000-of-00001");
}

std::string weights_of_workers(const Words& flags, int workers, const std::string& transport) {
  const TemporaryDirectory out;
  auto options = cluster_options(workers, flags + Words{"--final_checkpoint=" + (out / "final")});
  options.environment["DISTRIBUTE_TRANSPORT"] = transport;
  ProcessCluster(options).join();
  return file_text(out / "final.data-00000-of-00001");
}

/// Column `name` of a file of losses.
std::vector<double> column(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  std::string line, cell;
  std::vector<std::string> names;
  std::vector<double> values;
  std::getline(lines, line);
  for (std::istringstream cells(line); std::getline(cells, cell, ',');) names.push_back(cell);
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    for (size_t i = 0; std::getline(cells, cell, ','); ++i)
      if (names.at(i) == name) values.push_back(std::stod(cell));
  }
  return values;
}

double largest_difference(const std::vector<double>& actual, const std::vector<double>& expected,
                          size_t begin, size_t end) {
  double worst = 0;
  for (size_t s = begin; s < end; ++s)
    worst = std::max(worst, std::abs(actual.at(s) - expected.at(s)) / std::abs(expected[s]));
  return worst;
}

double mean_of_last(const std::vector<double>& values, size_t count) {
  double sum = 0;
  for (size_t s = values.size() - count; s < values.size(); ++s) sum += values[s];
  return sum / double(count);
}

/// L2 norm of the difference of all weights over that of the expected ones.
double weight_difference(const std::string& prefix, const std::string& expected_prefix) {
  distribute::train::BundleReader actual(prefix), expected(expected_prefix);
  double difference = 0, size = 0;
  for (const std::string& name : expected.keys()) {
    const auto a = actual.read_values<float>(name), e = expected.read_values<float>(name);
    for (size_t i = 0; i < e.size(); ++i) {
      difference += std::pow(double(a.at(i)) - double(e[i]), 2);
      size += std::pow(double(e[i]), 2);
    }
  }
  return std::sqrt(difference / size);
}

}  // namespace

TEST_CASE("workers give the bits of one process with as many replicas",
          "[examples][mnist_cnn][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const int workers = GENERATE(1, 2, 3, 4);
  INFO(workers << " workers");
  const Result alone = train_alone(kShort, workers);
  CHECK((train_workers(kShort, workers) == alone));
  if (workers > 1) CHECK((train_workers(kShort, workers, "tcp") == alone));
}

TEST_CASE("gradients that travel while others are computed give the same bits",
          "[examples][mnist_cnn][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const int workers = GENERATE(2, 4);
  const Words flags{"--model=tutorial", "--batch_size=8", "--steps=8"};
  const std::string alone = weights_alone(flags, workers);
  REQUIRE(!alone.empty());
  CHECK((weights_of_workers(flags, workers, "") == alone));
  CHECK((weights_of_workers(flags, workers, "tcp") == alone));
}

TEST_CASE("workers may have parts of a batch of different size",
          "[examples][mnist_cnn][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  // The gradients of one image and of two lie differently in memory. One process divides the batch
  // otherwise than four workers do, as in TensorFlow, so that its sums have other bits.
  const Words flags{"--model=tutorial", "--batch_size=6", "--steps=8"};
  const Result at_the_end = train_workers(flags, 4);
  CHECK((weights_of_workers(flags, 4, "") == at_the_end.weights));
  CHECK((weights_of_workers(flags, 4, "tcp") == at_the_end.weights));
  CHECK(largest_difference(column(at_the_end.losses, "loss"),
                           column(train_alone(flags, 4).losses, "loss"), 0, 8) < 1e-5);
}

TEST_CASE("two workers with two replicas each follow four replicas, with the same bits on TCP",
          "[examples][mnist_cnn][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const auto alone = column(train_alone(kShort, 4).losses, "loss");
  const Words flags = kShort + Words{"--replicas=2"};
  const Result shared = train_workers(flags, 2);
  // Worker 0 gets parts 0 and 2 of a batch, as in TensorFlow, so that sums have another order.
  CHECK(largest_difference(column(shared.losses, "loss"), alone, 0, 6) < 1e-6);
  CHECK((train_workers(flags, 2, "tcp") == shared));
}

TEST_CASE("two workers follow TensorFlow's two workers, over shared memory and TCP alike",
          "[examples][mnist_cnn][multiproc][parity]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const auto parity = shared_data("parity"), images = shared_data("mnist");
  if (!parity || !images) SKIP("the parity data are not there");
  const std::string folder = *parity + "/two_workers_book_cnn_sgd";
  const TemporaryDirectory out;
  const Words flags{"--model=book",          "--noshuffle",
                    "--optimizer=sgd",       "--learning_rate=0.05",
                    "--batch_size=64",       "--steps=40",
                    "--data_dir=" + *images, "--init_checkpoint=" + folder + "/init"};
  ProcessCluster(cluster_options(2, flags + output_flags(out))).join();
  const Result shared = read_result(out);
  const std::string reference = file_text(folder + "/losses.csv");
  const auto actual = column(shared.losses, "loss"), expected = column(reference, "loss");
  REQUIRE(actual.size() == 40);
  REQUIRE(expected.size() == 40);
  CHECK(largest_difference(actual, expected, 0, 10) < 1e-5);
  CHECK(largest_difference(actual, expected, 0, 40) < 2e-2);
  CHECK(std::abs(mean_of_last(actual, 20) / mean_of_last(expected, 20) - 1) < 2e-3);
  CHECK(largest_difference(column(shared.losses, "grad_norm"), column(reference, "grad_norm"), 0,
                           1) < 1e-5);
  CHECK(weight_difference(out / "final", folder + "/final") < 1e-2);
  CHECK((train_workers(flags, 2, "tcp") == shared));
  CHECK((train_alone(flags, 2) == shared));
}

TEST_CASE("workers learn, and the chief alone writes and prints",
          "[examples][mnist_cnn][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const bool chief = GENERATE(false, true);
  const TemporaryDirectory out;
  // Every task has a directory of its own, so that one can tell who wrote what.
  auto options = cluster_options(
      chief ? 1 : 2, {"--model=tutorial", "--steps=100", "--json=run.json", "--loss_csv=loss.csv",
                      "--final_checkpoint=final", "--checkpoint_dir=ckpt", "--logdir=logs"});
  options.chief = chief;
  options.command.at(2) = "mkdir " + out.path() + "/$DISTRIBUTE_LOCAL_RANK && cd " + out.path() +
                          "/$DISTRIBUTE_LOCAL_RANK && exec \"$0\" \"$@\"";
  const auto outcomes = ProcessCluster(options).join();
  INFO(all_output(outcomes));
  CHECK(outcomes.at(0).name == (chief ? "chief 0" : "worker 0"));
  CHECK_THAT(outcomes[0].out, Contains("step 100  loss ") && Contains("test accuracy 0."));
  CHECK(outcomes.at(1).out == "");
  const auto json = Json::parse(file_text(out / "0/run.json"));
  CHECK(json["strategy"] == "multi_worker");
  CHECK(json["workers"] == 2);
  CHECK(json["replicas"] == 2);
  CHECK(json["test_accuracy"] > 0.8);
  for (const char* name : {"loss.csv", "final.index", "ckpt/checkpoint", "logs"})
    CHECK(fs::exists(fs::path(out / "0") / name));
  for (const auto& entry : fs::recursive_directory_iterator(out / "1"))
    if (entry.is_regular_file()) FAIL_CHECK("written by the second task: " << entry.path());
}

TEST_CASE("the launcher runs mnist_cnn on three workers", "[examples][mnist_cnn][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  if (!has_program("distribute")) SKIP("the launcher was not built");
  const TemporaryDirectory out;
  const ProgramResult run = run_program(
      "distribute", Words{"run", "-np", "3", "--", kProgram} + kShort + output_flags(out),
      "OMP_NUM_THREADS=1");
  INFO(run.out << run.err);
  REQUIRE(run.status == 0);
  CHECK_THAT(run.out, Contains("[worker 0] step 6  loss ") && !Contains("[worker 1]"));
  CHECK((read_result(out) == train_alone(kShort, 3)));
}

TEST_CASE("a timeline holds the steps and collectives of all workers on one clock",
          "[examples][mnist_cnn][multiproc][timeline]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const std::string transport = GENERATE("", "tcp");
  const TemporaryDirectory out;
  auto options = cluster_options(3, kShort);
  options.environment["DISTRIBUTE_TRANSPORT"] = transport;
  options.environment["DISTRIBUTE_TIMELINE"] = out / "trace.json";
  ProcessCluster(options).join();
  const auto trace = Json::parse(file_text(out / "trace.json"));
  std::map<int, std::string> tasks;
  std::map<std::pair<int, int>, double> ends;  // of the last span of a row
  std::map<int, std::vector<double>> barriers;
  std::map<int, int> runs, reductions;
  for (const Json& event : trace.at("traceEvents")) {
    const int pid = event.at("pid");
    if (event.at("name") == "process_name") tasks[pid] = event.at("args").at("name");
    if (event.at("ph") != "X") continue;
    const double begin = event.at("ts"), duration = event.at("dur");
    CHECK(duration >= 0);
    double& end = ends[{pid, event.at("tid")}];
    CHECK(begin >= end - 0.002);  // microseconds with three digits
    end = begin + duration;
    const std::string name = event.at("name");
    runs[pid] += name == "run";
    if (name.rfind("all_reduce(", 0) == 0) {
      ++reductions[pid];
      CHECK(event.at("args").at("bytes") > 0);
      CHECK(event.at("args").at("queued_us") >= 0);
      barriers[pid].push_back(begin + duration);
    }
  }
  REQUIRE(tasks.size() == 3);
  for (int rank = 0; rank < 3; ++rank) {
    INFO("rank " << rank);
    CHECK_THAT(tasks[rank], Contains("worker " + std::to_string(rank) + " ("));
    CHECK(runs[rank] == 6 + 10);  // steps, the batches of the test
    CHECK(reductions[rank] >= 12);
    CHECK(reductions[rank] == reductions[0]);
  }
  // Every rank is in the same all_reduce before any has left it.
  for (size_t i = 1; i < barriers[0].size(); ++i)
    for (int rank = 1; rank < 3; ++rank) CHECK(barriers[rank].at(i) > barriers[0][i - 1]);
}

TEST_CASE("outputs that the environment names are checked before the training",
          "[examples][mnist_cnn][timeline]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const std::string strategy = GENERATE("mirrored", "multi_worker");
  const std::string variables =
      GENERATE("DISTRIBUTE_TIMELINE=/proc/no/trace.json",
               "CLOUD_ML_TRIAL_ID=1 CLOUD_ML_HP_METRIC_FILE=/proc/no/trace.json");
  const std::string name = variables.substr(variables.rfind(' ') + 1);
  const ProgramResult run =
      run_program("mnist_cnn", kShort + Words{"--strategy=" + strategy}, variables);
  INFO(run.out << run.err);
  CHECK(run.status == 1);
  CHECK_THAT(run.err, Contains(name.substr(0, name.find('='))) && Contains("/proc/no"));
  CHECK_THAT(run.out, !Contains("step 1 "));
}

TEST_CASE("a timeline that worker 0 cannot write ends all workers",
          "[examples][mnist_cnn][multiproc][timeline]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  auto options = cluster_options(2, kShort);
  options.environment["DISTRIBUTE_TIMELINE"] = "/proc/no/trace.json";
  ProcessCluster cluster(options);
  for (int worker = 0; worker < 2; ++worker) cluster.expect_failure({"worker", worker});
  for (const auto& task : cluster.join()) {
    INFO(task.name << task.out << task.err);
    CHECK(task.status.code == 1);
    CHECK_THAT(task.err, Contains("worker 0 (") && Contains("DISTRIBUTE_TIMELINE=/proc/no"));
  }
}

TEST_CASE("a worker with fewer cores than the others is named",
          "[examples][mnist_cnn][straggler][multiproc]") {
  SKIP_WITHOUT_PROGRAM("mnist_cnn");
  const ControlGroup group("cpu", "cpu.cfs_quota_us", "cpu.max");
  if (!group.why_not().empty()) SKIP("" + group.why_not());
  // A tenth of a core, which a program has beside ten others on one core, too: its quota runs out
  // on any machine, and is named whichever worker is the later one.
  group.limit("10000");
  {
    ProcessCluster cluster(
        cluster_options(2, {"--model=tutorial", "--batch_size=2", "--steps=1000000"}));
    for (const int worker : {0, 1}) cluster.expect_failure({"worker", worker});
    cluster.wait_for_output({"worker", 0}, "step 100 ");
    group.take(cluster.pid({"worker", 1}));
    // The 100 steps of a comparison are many periods of the quota.
    cluster.wait_for_output({"worker", 0}, ") was stopped by its quota of CPU time in ", 280);
    for (const int worker : {0, 1}) cluster.kill({"worker", worker});
    const std::string told = cluster.wait()[0].err;
    CHECK(
        std::regex_search(told, std::regex("worker 1 \\(127\\.0\\.0\\.1:[0-9]+\\) was stopped "
                                           "by its quota of CPU time in [0-9]+ % of its periods")));
    CHECK_THAT(told, Contains("and the others waited for it"));
  }
}

TEST_CASE("a GPU that is expected and missing is told of by the first task of a host alone",
          "[examples][mnist_cnn][multiproc]") {
  // Programs of one's own, whose strategies look for GPUs; the folder of data is looked for later.
  const std::string program = GENERATE("mnist_cnn_mirrored", "mnist_cnn_multi_worker");
  if (!has_program(program)) SKIP("the program was not built");
  const auto times_told = [](const std::string& output) {
    int count = 0;
    for (size_t at = 0; (at = output.find("; the CPU is used", at)) != output.npos; ++at) ++count;
    return count;
  };
  const std::string data = "--data_dir=/no/such/folder";
  if (!std::filesystem::exists("/proc/driver/nvidia")) {
    const auto quiet = run_program(program, {data}, "env -u TF_CONFIG -u CUDA_VISIBLE_DEVICES");
    CHECK(times_told(quiet.err) == 0);
  }
  const ProgramResult alone =
      run_program(program, {data}, "env -u TF_CONFIG CUDA_VISIBLE_DEVICES=0");
  CHECK(alone.status == 1);
  if (times_told(alone.err) == 0) SKIP("there is a GPU, or the build has no CUDA");
  CHECK(times_told(alone.err) == 1);
  auto options = cluster_options(3, {});
  options.command = {"env", "CUDA_VISIBLE_DEVICES=0",
                     distribute::testing::binary_dir() + "/" + program, data};
  ProcessCluster cluster(options);
  for (const int worker : {0, 1, 2}) cluster.expect_failure({"worker", worker});
  CHECK(times_told(mnist_cluster::all_output(cluster.wait())) == 1);
}
