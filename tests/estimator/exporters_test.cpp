#include <distribute/estimator/train_and_evaluate.hpp>
#include <distribute/nn/module_saver.hpp>
#include <distribute/optim/sgd.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/small_fit.hpp>
#include <tests/support/temporary_directory.hpp>

#include <cstdio>

#include <sys/wait.h>
#include <unistd.h>

using namespace distribute;
using namespace distribute::train;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> versions(const std::string& directory) {
  std::set<std::string> names;
  if (!fs::exists(directory)) return {};
  for (const auto& entry : fs::directory_iterator(directory)) {
    names.insert(entry.path().filename());
    CHECK(fs::exists(entry.path() / "saved_model.pb"));
  }
  return {names.begin(), names.end()};
}

struct Job {
  TemporaryDirectory own;
  std::string directory;
  nn::Sequential net = small_net();
  optim::SGD optimizer{{.learning_rate = 0.1}};
  Model model{net};
  Estimator estimator;

  explicit Job(const std::string& given = {})
      : directory(given.empty() ? own.path() : given),
        estimator(compiled(),
                  {.model_dir = directory, .save_checkpoints = {.steps = 2}, .out = nullptr}) {}
  Model& compiled() {
    model.compile(
        {.optimizer = optimizer, .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
    return model;
  }
  void train_and_evaluate(std::vector<Exporter> exporters) {
    train::train_and_evaluate(
        estimator,
        {.input_fn = [] { return InputData(small_data(12).repeat().batch(4)); }, .max_steps = 8},
        {.input_fn = [] { return InputData(small_data(9).batch(4)); },
         .exporters = std::move(exporters),
         .throttle_secs = 0});
  }
  std::string exports(const std::string& name) const { return directory + "/export/" + name; }
};

Logs with_loss(double loss, int64_t step) {
  Logs logs;
  logs.set("loss", loss);
  logs.set("global_step", double(step));
  return logs;
}

}  // namespace

TEST_CASE("an exporter that could not write is refused before training", "[train][exporters]") {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    nn::register_module_saver(nullptr);  // as in a program without the header
    int refused = 0;
    const auto make = [&](const auto& maker) {
      try {
        maker();
      } catch (const FailedPreconditionError& error) {
        refused += std::string(error.what()).find("include <distribute/saved_model.hpp>") !=
                   std::string::npos;
      }
    };
    make([] { FinalExporter({.name = "final"}); });
    make([] { LatestExporter({.name = "latest"}); });
    make([] { BestExporter({.name = "best"}); });
    ::_exit(refused);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 3);
}

TEST_CASE("the final exporter writes once, the latest one keeps the newest", "[train][exporters]") {
  Job job;
  job.train_and_evaluate({FinalExporter({.name = "final"}),
                          LatestExporter({.name = "latest", .exports_to_keep = 2}),
                          LatestExporter({.name = "all", .exports_to_keep = 0})});
  CHECK(versions(job.exports("final")).size() == 1);
  const auto all = versions(job.exports("all")), latest = versions(job.exports("latest"));
  CHECK(all.size() > 2);
  CHECK(latest.size() == 2);
}

TEST_CASE("the best exporter writes what is better than all before", "[train][exporters]") {
  Job job;
  job.estimator.train([] { return InputData(small_data(12).batch(4)); }, {.steps = 1});
  BestExporter best({.name = "best"});
  const auto evaluate = [&](double loss, int64_t step) {
    best(job.estimator, "", with_loss(loss, step), false);
    return versions(job.exports("best")).size();
  };
  CHECK(evaluate(2.0, 1) == 1);
  CHECK(evaluate(3.0, 2) == 1);
  CHECK(evaluate(2.0, 3) == 1);
  CHECK(evaluate(1.5, 4) == 2);
  BestExporter largest(
      {.name = "largest",
       .compare = [](const Logs& a, const Logs& b) { return b.at("loss") > a.at("loss"); },
       .exports_to_keep = 1});
  for (const double loss : {1.0, 3.0, 2.0}) largest(job.estimator, "", with_loss(loss, 1), false);
  CHECK(versions(job.exports("largest")).size() == 1);
}

TEST_CASE("the best exporter of a run that goes on knows the evaluations before",
          "[train][exporters]") {
  Job first;
  first.train_and_evaluate({BestExporter({})});
  const size_t before = versions(first.exports("best_exporter")).size();
  CHECK(before >= 1);
  Job second(first.directory);
  BestExporter best({});
  best(second.estimator, "", with_loss(1e6, 1000), false);  // worse than anything
  CHECK(versions(first.exports("best_exporter")).size() == before);
  best(second.estimator, "", with_loss(-1, 1001), false);
  CHECK(versions(first.exports("best_exporter")).size() == before + 1);
}

TEST_CASE("exporters refuse what makes no sense", "[train][exporters]") {
  CHECK_THROWS_SAYING(FinalExporter({}), InvalidArgumentError, "name must be that");
  CHECK_THROWS_SAYING(LatestExporter({.name = "a/b"}), InvalidArgumentError, "a/b");
  CHECK_THROWS_SAYING(BestExporter({.exports_to_keep = -1}), InvalidArgumentError, "it is -1");
  CHECK_THROWS_SAYING(loss_smaller(Logs(), with_loss(1, 1)), InvalidArgumentError,
                      "no figure called loss");
}
