#include <distribute/estimator/train_and_evaluate.hpp>
#include <distribute/optim/sgd.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/small_fit.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>

using namespace distribute;
using namespace distribute::train;
namespace fs = std::filesystem;

namespace {

/// Whatever is passed by reference: a clock that only sleeping moves.
struct Time {
  double now = 0;
  std::vector<double> sleeps;
  std::function<double()> clock() {
    return [this] { return now; };
  }
  std::function<void(double)> sleep() {
    return [this](double seconds) { sleeps.push_back(seconds), now += seconds; };
  }
};

struct Job {
  TemporaryDirectory directory;
  Time time;
  nn::Sequential net = small_net();
  optim::SGD optimizer{{.learning_rate = 0.1}};
  Model model{net};
  Estimator estimator;
  TrainSpec train_spec{.input_fn = [] { return InputData(small_data(12).repeat().batch(4)); },
                       .max_steps = 6};
  EvalSpec eval_spec{.input_fn = [] { return InputData(small_data(9).batch(4)); }};

  explicit Job(const std::string& model_dir = {}, int64_t save_steps = 2)
      : estimator(compiled(), {.model_dir = model_dir.empty() ? directory.path() : model_dir,
                               .save_checkpoints = {.steps = save_steps},
                               .out = nullptr,
                               .clock = time.clock()}) {}
  Model& compiled() {
    model.compile(
        {.optimizer = optimizer, .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
    return model;
  }
  TrainAndEvaluateResult run(const std::string& type = "", int id = 0) {
    TrainAndEvaluateOptions options{.sleep = time.sleep()};
    if (!type.empty()) {
      options.cluster.cluster_spec = ClusterSpec({{"chief", {"a:1"}}, {"worker", {"b:1", "c:1"}}});
      options.cluster.task_type = type;
      options.cluster.task_id = id;
    }
    return train_and_evaluate(estimator, train_spec, eval_spec, options);
  }
};

}  // namespace

TEST_CASE("an estimator goes on from its newest checkpoint", "[train][estimator]") {
  Job job;
  job.estimator.train(job.train_spec.input_fn, {.steps = 3});
  CHECK(job.estimator.latest_checkpoint() == job.directory / "model.ckpt-3");
  job.estimator.train(job.train_spec.input_fn, {.max_steps = 5});
  CHECK(job.optimizer.iterations() == 5);
  Job other(job.directory.path());
  const Logs logs = other.estimator.evaluate(job.eval_spec.input_fn);
  CHECK(logs.at("global_step") == 5);
  CHECK(logs.at("loss") == Approx(job.model.evaluate(small_data(9).batch(4)).at("loss")));
  CHECK(fs::exists(job.directory / "eval"));
  const Logs third = other.estimator.evaluate(
      job.eval_spec.input_fn,
      {.steps = 1, .name = "third", .checkpoint_path = job.directory / "model.ckpt-3"});
  CHECK(third.at("global_step") == 3);
  CHECK(fs::exists(job.directory / "eval_third"));
  CHECK_THROWS_SAYING(job.estimator.train(job.train_spec.input_fn, {.steps = 1, .max_steps = 1}),
                      InvalidArgumentError, "both steps and max_steps");
  Job empty;
  CHECK_THROWS_SAYING(empty.estimator.evaluate(job.eval_spec.input_fn), NotFoundError,
                      "Could not find trained model");
}

TEST_CASE("training without max_steps ends with the data", "[train][estimator]") {
  Job job;
  job.train_spec.max_steps.reset();
  job.train_spec.input_fn = [] { return InputData(small_data(12).batch(4)); };
  job.run();
  CHECK(job.optimizer.iterations() == 3);
}

TEST_CASE("alone: checkpoints but the first are evaluated, throttled, and the last (114)",
          "[train][train_and_evaluate]") {
  Job job;
  std::vector<std::pair<int64_t, bool>> exports;
  job.eval_spec.exporters = {[&](Estimator&, const std::string&, const Logs& logs, bool is_final) {
    exports.emplace_back(int64_t(logs.at("global_step")), is_final);
    return std::nullopt;
  }};
  const double throttle = GENERATE(0.0, 600.0);
  job.eval_spec.throttle_secs = throttle;
  const auto result = job.run();
  // Saved at 0, 2, 4 and 6; the first is left out; throttled only the second and the last.
  using Exports = std::vector<std::pair<int64_t, bool>>;
  CHECK(exports == (throttle == 0 ? Exports{{2, false}, {4, false}, {6, true}}
                                  : Exports{{2, false}, {6, true}}));
  CHECK(result.evaluations == int64_t(exports.size()));
  CHECK(result.eval_result.at("global_step") == 6);
}

TEST_CASE("a master trains and evaluates, a chief trains at once (114)",
          "[train][train_and_evaluate]") {
  Job master, chief;
  CHECK(master.run("master").evaluations == 2);
  CHECK(chief.run("chief").evaluations == 0);
  CHECK(chief.optimizer.iterations() == 6);
  CHECK(chief.time.sleeps.empty());
}

TEST_CASE("workers start one after the other (114)", "[train][train_and_evaluate]") {
  const auto delay = [](int id, const TrainAndEvaluateOptions& more = {}) {
    Job job;
    TrainAndEvaluateOptions options = more;
    options.sleep = job.time.sleep();
    options.cluster.cluster_spec = ClusterSpec({{"chief", {"a:1"}}, {"worker", {"b:1"}}});
    options.cluster.task_type = "worker";
    options.cluster.task_id = id;
    train_and_evaluate(job.estimator, job.train_spec, job.eval_spec, options);
    return job.time.now;
  };
  CHECK(delay(0) == 5);
  CHECK(delay(2) == 15);
  CHECK(delay(50) == 60);
  CHECK(delay(2, {.max_worker_delay_secs = 7}) == 7);
  CHECK(delay(2, {.workers_step_together = true}) == 0);
}

TEST_CASE("the evaluator waits, evaluates new checkpoints, and ends at max_steps (114)",
          "[train][train_and_evaluate]") {
  const TemporaryDirectory directory;
  Job trainer(directory.path()), evaluator(directory.path());
  evaluator.eval_spec.start_delay_secs = 7;
  evaluator.eval_spec.throttle_secs = 20;
  TrainAndEvaluateOptions options;
  options.cluster.task_type = "evaluator";
  options.cluster.is_chief = false;
  std::vector<double> sleeps;
  options.sleep = [&](double seconds) {
    sleeps.push_back(seconds);
    evaluator.time.now += seconds;
    const int64_t steps = int64_t(sleeps.size()) - 2;  // nothing while the first sleeps
    if (steps == 1 || steps == 3 || steps == 6)
      trainer.estimator.train(trainer.train_spec.input_fn, {.max_steps = steps});
  };
  const auto result =
      train_and_evaluate(evaluator.estimator, evaluator.train_spec, evaluator.eval_spec, options);
  CHECK(result.evaluations == 3);
  CHECK(result.eval_result.at("global_step") == 6);
  CHECK(sleeps == std::vector<double>{7, 20, 20, 20, 20, 20, 20, 20});
}

TEST_CASE("tasks that do not exist are refused (114)", "[train][train_and_evaluate]") {
  Job job;
  CHECK_THROWS_SAYING(job.run("local"), InvalidArgumentError, "cannot be `local`");
  CHECK_THROWS_SAYING(job.run("foo"), InvalidArgumentError, "Task type foo is not supported");
  CHECK_THROWS_SAYING(job.run("evaluator", 1), InvalidArgumentError, "Given task id 1");
  CHECK_THROWS_SAYING(job.run("ps"), UnimplementedError, "run_ps");
  TrainAndEvaluateOptions options;
  bool served = false;
  options.cluster.cluster_spec = ClusterSpec({{"chief", {"a:1"}}, {"ps", {"b:1"}}});
  options.cluster.task_type = "ps";
  options.run_ps = [&] { served = true; };
  train_and_evaluate(job.estimator, job.train_spec, job.eval_spec, options);
  CHECK(served);
  job.train_spec.max_steps = 0;
  CHECK_THROWS_SAYING(job.run(), InvalidArgumentError, "max_steps > 0");
  job.train_spec.max_steps = 1;
  job.eval_spec.steps = 0;
  CHECK_THROWS_SAYING(job.run(), InvalidArgumentError, "steps > 0");
  job.eval_spec = {};
  CHECK_THROWS_SAYING(job.run(), InvalidArgumentError, "input_fn");
}

TEST_CASE("three workers that step together train one estimator", "[train][estimator]") {
  const TemporaryDirectory directory;
  Job alone;
  alone.estimator.train(alone.train_spec.input_fn, {.max_steps = 6});
  std::vector<std::vector<float>> weights(3);
  run_clean(3, 1, [&](Strategy& strategy, int worker) {
    const auto scope = strategy.scope();
    Job job(directory.path());
    job.train_spec.input_fn = [] { return InputData(small_data(12).repeat().batch(12)); };
    job.estimator.train(job.train_spec.input_fn, {.max_steps = 4});
    const Logs logs = job.estimator.evaluate(job.eval_spec.input_fn);
    require(logs.at("global_step") == 4, "the step");
    weights[size_t(worker)] = job.net.variables()[0].value().to_vector();
  });
  CHECK(weights[0] == weights[1]);
  CHECK(weights[0] == weights[2]);
  CHECK(fs::exists(directory / "model.ckpt-4.index"));
}
