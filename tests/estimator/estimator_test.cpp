#include <distribute/device/detail/backend.hpp>
#include <distribute/estimator/estimator.hpp>
#include <distribute/estimator/train_and_evaluate.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/parameter_server_strategy.hpp>

#include <tests/strategy/server_cluster.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_close.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/memory_store.hpp>
#include <tests/support/small_fit.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>
#include <tests/support/whole_files.hpp>

using namespace distribute;
using namespace distribute::train;
namespace fs = std::filesystem;

namespace {

InputData train_data() { return small_data(12).repeat().batch(12); }
InputData test_data() { return small_data(9).batch(3); }

struct Job {
  TemporaryDirectory own;
  nn::Sequential net = small_net();
  optim::SGD optimizer{{.learning_rate = 0.1}};
  Model model{net};
  Estimator estimator;

  explicit Job(const std::string& model_dir = {}, RunConfig options = {})
      : estimator(compiled(), with_directory(std::move(options), model_dir)) {}
  Model& compiled() {
    model.compile(
        {.optimizer = optimizer, .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
    return model;
  }
  EstimatorOptions with_directory(EstimatorOptions options, const std::string& model_dir) {
    options.model_dir = model_dir.empty() ? own.path() : model_dir;
    options.out = nullptr;
    return options;
  }
  void train_to(int64_t step) { estimator.train(train_data, {.max_steps = step}); }
  std::string checkpoint(int64_t step) const {
    return estimator.model_dir() + "/model.ckpt-" + std::to_string(step);
  }
  std::vector<float> weights() const { return net.variables()[0].value().to_vector(); }
};

/// Notes its calls, and asks for the end after `batches`.
struct NotingHook : SessionRunHook {
  explicit NotingHook(int batches = 1000) : left(batches) {}
  void begin() override { notes += "b"; }
  void after_create_session(MonitoredTrainingSession&) override { notes += "c"; }
  void before_run(SessionRunContext&) override { notes += "<"; }
  void after_run(SessionRunContext& context, const SessionRunValues& values) override {
    notes += ">";
    step = values.global_step;
    last = values.results;
    if (--left == 0) context.request_stop();
  }
  void end(MonitoredTrainingSession&) override { notes += "e"; }

  int left;
  std::string notes;
  int64_t step = -1;
  Logs last;
};

struct FailingHook : SessionRunHook {
  void end(MonitoredTrainingSession&) override { throw DataLossError("events are lost"); }
};

struct RunsAtEnd : SessionRunHook {
  explicit RunsAtEnd(std::function<void()> work) : work_(std::move(work)) {}
  void end(MonitoredTrainingSession&) override { work_(); }

 private:
  std::function<void()> work_;
};

struct NotingListener : CheckpointSaverListener {
  explicit NotingListener(int64_t stop_at = 1000) : last(stop_at) {}
  void begin() override { notes += "b"; }
  void before_save(MonitoredTrainingSession&, int64_t step) override {
    notes += " <" + std::to_string(step);
  }
  bool after_save(MonitoredTrainingSession&, int64_t step) override {
    notes += ">";
    return step >= last;
  }
  void end(MonitoredTrainingSession&, int64_t step) override {
    notes += " e" + std::to_string(step);
  }

  int64_t last;
  std::string notes;
};

}  // namespace

TEST_CASE("a hook that fails at the end of a training is its error, and costs no checkpoint",
          "[train][estimator]") {
  Job job;
  CHECK_THROWS_AS(job.estimator.train(train_data, {.steps = 3, .hooks = {FailingHook()}}),
                  DataLossError);
  CHECK(job.estimator.latest_checkpoint() == job.checkpoint(3));
}

TEST_CASE("events of a training that are lost are an error at its end", "[train][estimator]") {
  MemoryStore& store = MemoryStore::fresh();
  Job job("mem://bucket/job", {.save_summary = {.steps = 1}});
  const auto down = std::make_shared<RunsAtEnd>(
      [&] { store.fail_after(0, absl::PermissionDeniedError("AccessDenied"), 1); });
  CHECK_THROWS_WITH(job.estimator.train(train_data, {.steps = 3, .hooks = {down}}),
                    Contains("AccessDenied; ") && Contains(" to 3 are lost"));
  CHECK(job.estimator.latest_checkpoint() == job.checkpoint(3));
}

TEST_CASE("figures of an evaluation that are lost are an error", "[train][estimator]") {
  Job job;
  job.train_to(2);
  const FileSizeLimit limit(60);  // the event file's first record fits
  CHECK_THROWS_WITH(job.estimator.evaluate(test_data), Contains("eval/events.out.tfevents"));
}

TEST_CASE("hooks see the batches of an evaluation and may end it", "[train][estimator]") {
  Job job;
  job.train_to(4);
  NotingHook all, two(2);
  const Logs whole = job.estimator.evaluate(test_data, {.hooks = {all}});
  CHECK(all.notes == "bc<><><>e");
  CHECK(all.step == 4);
  CHECK(all.last.at("loss") == Approx(whole.at("loss")));
  const Logs part = job.estimator.evaluate(test_data, {.hooks = {all, two}});
  CHECK(two.notes == "bc<><>e");
  CHECK(part.at("global_step") == 4);
  const Logs first_two = job.estimator.evaluate(test_data, {.steps = 2});
  CHECK(part.at("loss") == first_two.at("loss"));
  CHECK(part.at("loss") != whole.at("loss"));
  // The next one has nothing left of the end that was asked for.
  CHECK(job.estimator.evaluate(test_data).at("loss") == whole.at("loss"));
}

TEST_CASE("an estimator predicts with the weights of a checkpoint, in the data's order",
          "[train][estimator]") {
  Job job;
  job.train_to(2);
  const auto early = job.model.predict(small_data(9).batch(3)).to_vector();
  job.train_to(5);
  const auto late = job.model.predict(small_data(9).batch(3)).to_vector();
  CHECK(early != late);
  Job other(job.estimator.model_dir());
  CHECK(other.estimator.predict(test_data, {.checkpoint_path = job.checkpoint(2)}).to_vector() ==
        early);
  const Tensor newest = other.estimator.predict(test_data);
  CHECK(newest.to_vector() == late);
  CHECK(newest.shape() == Shape{9, 3});
  NotingHook one(1);
  CHECK(other.estimator.predict(test_data, {.hooks = {one}}).shape() == Shape{3, 3});
  CHECK(one.notes == "bc<>e");
  CHECK(one.step == 5);
}

TEST_CASE("an estimator exports a checkpoint below the number of a version", "[train][estimator]") {
  Job job;
  job.train_to(2);
  job.train_to(5);
  const std::string base = job.estimator.model_dir() + "/models";
  const auto graph = [](const std::string& path) {
    return read_whole(*value_or_throw(io::file_system_for(path)), path + "/saved_model.pb");
  };
  const std::string first = job.estimator.export_saved_model(base);
  const std::string second =
      job.estimator.export_saved_model(base, {.checkpoint_path = job.checkpoint(2)});
  const std::string third = job.estimator.export_saved_model(base);
  CHECK(fs::path(first).parent_path() == base);
  CHECK(std::stoll(fs::path(first).filename()) < std::stoll(fs::path(second).filename()));
  CHECK(std::stoll(fs::path(second).filename()) < std::stoll(fs::path(third).filename()));
  CHECK(graph(first) == graph(third));
  CHECK(graph(first) != graph(second));
}

TEST_CASE("an estimator says what it cannot do", "[train][estimator]") {
  Job empty;
  const std::string missing = "Could not find trained model in model_dir: ";
  CHECK_THROWS_SAYING(empty.estimator.predict(test_data), NotFoundError,
                      missing + empty.estimator.model_dir());
  CHECK_THROWS_SAYING(empty.estimator.export_saved_model("/tmp/models"), NotFoundError, missing);
  Job job;
  job.train_to(1);
  const auto divided = [&] { return InputData(job.model.distribute(test_data())); };
  CHECK_THROWS_SAYING(job.estimator.predict(divided), InvalidArgumentError,
                      "predictions have its order");
  CHECK_THROWS_SAYING(job.estimator.evaluate(test_data, {.steps = 0}), InvalidArgumentError,
                      "Must specify steps > 0, given: 0");
  CHECK_THROWS_SAYING(job.estimator.train(train_data, {.steps = -1}), InvalidArgumentError,
                      "Must specify steps > 0, given: -1");
  CHECK_THROWS_SAYING(job.estimator.train(train_data, {.max_steps = 0}), InvalidArgumentError,
                      "Must specify max_steps > 0, given: 0");
  Job saves_nothing({}, {.save_checkpoints = {}});
  NotingListener listener;
  CHECK_THROWS_SAYING(
      saves_nothing.estimator.train(train_data, {.steps = 1, .saving_listeners = {listener}}),
      InvalidArgumentError, "There should be a CheckpointSaverHook to use saving_listeners");
}

TEST_CASE("a training without a checkpoint of its own begins with the weights of another",
          "[train][estimator]") {
  Job first;
  first.train_to(3);
  for (const std::string& from : {first.checkpoint(3), first.estimator.model_dir()}) {
    Job second({}, {.warm_start_from = from});
    NotingHook hook;
    std::vector<float> begun;
    struct Peek : SessionRunHook {
      std::function<void()> look;
      void after_create_session(MonitoredTrainingSession&) override { look(); }
    } peek;
    peek.look = [&] { begun = second.weights(); };
    second.estimator.train(train_data, {.steps = 2, .hooks = {peek}});
    CHECK(begun == first.weights());
    CHECK(second.optimizer.iterations() == 2);  // the weights alone
    const auto trained = second.weights();
    CHECK(trained != begun);
    Job again(second.estimator.model_dir(), {.warm_start_from = from});
    peek.look = [&] { begun = again.weights(); };
    again.estimator.train(train_data, {.steps = 1, .hooks = {peek}});
    CHECK(begun == trained);  // it has a checkpoint by now
  }
}

TEST_CASE("variables of the newest checkpoint are read by name", "[train][estimator]") {
  Job job;
  job.train_to(3);
  const auto names = job.estimator.get_variable_names();
  for (const Variable& variable : job.net.variables()) {
    CHECK(std::count(names.begin(), names.end(), variable.name()) == 1);
    CHECK(job.estimator.get_variable_value(variable.name()).to_vector() ==
          variable.value().to_vector());
  }
  CHECK_THROWS_SAYING(job.estimator.get_variable_value("no such"), NotFoundError,
                      "there is no variable 'no such'");
}

TEST_CASE("a warm start takes the variables whose names are wanted", "[train][estimator]") {
  Job first;
  first.train_to(3);
  const auto weights_at_start = [&](EstimatorOptions options) {
    options.warm_start_from = first.estimator.model_dir();
    Job job({}, options);
    struct Peek : SessionRunHook {
      std::function<void()> look;
      void after_create_session(MonitoredTrainingSession&) override { look(); }
    } peek;
    std::map<std::string, std::vector<float>> weights;
    peek.look = [&] {
      for (const Variable& variable : job.net.variables())
        weights[variable.name()] = variable.value().to_vector();
    };
    job.estimator.train(train_data, {.steps = 1, .hooks = {peek}});
    return weights;
  };
  const auto weights = weights_at_start({.vars_to_warm_start = "hidden/k|out"});
  const auto untrained = small_net();
  for (const Variable& variable : first.net.variables()) {
    INFO(variable.name());
    if (variable.name() != "hidden/bias")
      CHECK(weights.at(variable.name()) == variable.value().to_vector());
  }
  CHECK(weights.at("hidden/bias") == untrained.variables()[1].value().to_vector());
  CHECK(weights_at_start({.vars_to_warm_start = "idden"}).at("hidden/kernel") ==
        untrained.variables()[0].value().to_vector());  // names begin so
  CHECK_THROWS_SAYING(weights_at_start({.var_name_to_prev_var_name = {{"out/bias", "before"}}}),
                      NotFoundError, "there is no variable 'before'");
  CHECK_THROWS_SAYING(weights_at_start({.vars_to_warm_start = "("}), InvalidArgumentError,
                      "vars_to_warm_start '('");
}

TEST_CASE("listeners of a TrainSpec and hooks of an EvalSpec are called, and exports are told",
          "[train][train_and_evaluate]") {
  Job job({}, {.save_checkpoints = {.steps = 2}});
  NotingListener listener;
  NotingHook hook;
  const std::string exported = job.estimator.model_dir() + "/somewhere";
  const auto result = train_and_evaluate(
      job.estimator, {.input_fn = train_data, .max_steps = 4, .saving_listeners = {listener}},
      {.input_fn = test_data,
       .hooks = {hook},
       .exporters = {
           [&](Estimator&, const std::string&, const Logs&, bool is_final) {
             return is_final ? std::optional(exported) : std::nullopt;
           },
           [](Estimator&, const std::string&, const Logs&, bool) { return std::nullopt; }},
       .throttle_secs = 0});
  CHECK(listener.notes == "b <0> <2> <4> e4");
  CHECK(hook.notes == "bc<><><>ebc<><><>e");
  CHECK(result.export_results == std::vector<std::optional<std::string>>{exported, std::nullopt});
}

TEST_CASE("a listener may end a training; workers that do not save have none",
          "[train][estimator]") {
  Job chief({}, {.save_checkpoints = {.steps = 2}});
  NotingListener stops(4);
  chief.estimator.train(train_data, {.steps = 100, .saving_listeners = {stops}});
  CHECK(chief.optimizer.iterations() == 4);
  struct Ready : SessionReadiness {
    void set_ready() override {}
    bool wait_until_ready(double) override { return true; }
  } ready;
  Job worker(chief.estimator.model_dir(),
             {.save_checkpoints = {.steps = 2}, .readiness = &ready, .is_chief = false});
  NotingListener silent(4);
  worker.estimator.train(train_data, {.steps = 3, .saving_listeners = {silent}});
  CHECK(silent.notes == "");
  CHECK(worker.optimizer.iterations() == 3);
}

TEST_CASE("three workers evaluate, predict and export together", "[train][estimator]") {
  const TemporaryDirectory directory;
  std::vector<std::vector<float>> predictions(3);
  std::vector<std::string> paths(3);
  std::vector<double> losses(3);
  run_clean(3, 1, [&](Strategy& strategy, int worker) {
    const auto scope = strategy.scope();
    Job job(directory.path());
    job.train_to(3);
    NotingHook hook(worker == 1 ? 2 : 1000);  // one of them has seen enough
    const Logs logs = job.estimator.evaluate(test_data, {.hooks = {hook}});
    require(hook.notes == "bc<><>e", hook.notes.c_str());
    losses[size_t(worker)] = logs.at("loss");
    NotingHook other(worker == 2 ? 1 : 1000);
    const Tensor some = job.estimator.predict(test_data, {.hooks = {other}});
    require(some.shape() == Shape{3, 3}, "one batch");
    predictions[size_t(worker)] = job.estimator.predict(test_data).to_vector();
    paths[size_t(worker)] = job.estimator.export_saved_model(directory / "models");
  });
  CHECK(losses[0] == losses[1]);
  CHECK(losses[0] == losses[2]);
  CHECK(predictions[0] == predictions[1]);
  CHECK(predictions[0] == predictions[2]);
  CHECK(paths[0] == paths[1]);
  CHECK(paths[0] == paths[2]);
  CHECK(fs::exists(paths[0] + "/saved_model.pb"));
  Job alone(directory.path());
  const Tensor all = alone.estimator.predict(test_data);
  // Where oneDNN computes in AVX-512: it has bfloat16 then.
  if (backend(DeviceType::Cpu).supports(DType::BFloat16)) CHECK(all.to_vector() == predictions[0]);
  // One worker's batches are larger; oneDNN's products for AVX2 round some rows of them otherwise.
  check_close(all, std::vector<double>(predictions[0].begin(), predictions[0].end()), 1e-5);
}

TEST_CASE("an estimator of a job with servers runs in its own process",
          "[estimator][parameter_server]") {
  strategy_test::ServerCluster cluster(1, 1, true);
  ParameterServerStrategy strategy(cluster.resolver("chief", 0));
  const auto scope = strategy.scope();
  nn::Sequential net = small_net();
  CHECK(Model(net).has_coordinator());
  Job job;
  CHECK_FALSE(job.model.has_coordinator());
  job.train_to(3);
  CHECK(job.estimator.evaluate(test_data).at("global_step") == 3);
  CHECK(job.estimator.predict(test_data).shape() == Shape{9, 3});
}

namespace {

/// One weight, which each step of rate 1 makes less by 1.
struct Falling {
  nn::Sequential net{
      nn::Dense({.units = 1, .use_bias = false, .kernel_initializer = nn::initializers::zeros()})};
  optim::SGD optimizer{{.learning_rate = 1.0}};
  Model model{net};
  Estimator estimator;

  explicit Falling(const std::string& model_dir) : estimator(compiled(), options(model_dir)) {}
  Model& compiled() {
    model.compile({.optimizer = optimizer, .loss = nn::MeanAbsoluteError()});
    return model;
  }
  static EstimatorOptions options(const std::string& model_dir) {
    return {.model_dir = model_dir, .save_checkpoints = {.steps = 5}, .out = nullptr};
  }
  /// Targets far below.
  static InputData data() {
    return data::Dataset::from_tensor_slices(ones({4, 1}), fill({4, 1}, -1e6f)).repeat().batch(4);
  }
  float weight() const { return net.variables()[0].value().to_vector()[0]; }
};

}  // namespace

// Before, the evaluation restored the servers' variables while the worker pushed: -286 of -302.
TEST_CASE("an evaluation loses no step of the workers that train on",
          "[estimator][parameter_server]") {
  const TemporaryDirectory directory;
  strategy_test::ServerCluster cluster(1, 1, true);
  std::atomic<bool> has_trained = false, has_evaluated = false;
  std::atomic<int> steps = 0;
  std::thread worker([&] {
    ParameterServerStrategy strategy(cluster.resolver("worker", 0));
    const auto scope = strategy.scope();
    Falling job(directory.path());
    while (!has_trained) std::this_thread::yield();
    const DistributedDataset data = job.model.distribute(Falling::data());
    auto iterator = data.iterator();
    for (; !has_evaluated || steps < 20; ++steps) job.model.train_on_batch(iterator.get_next());
  });
  {
    ParameterServerStrategy strategy(cluster.resolver("chief", 0));
    const auto scope = strategy.scope();
    Falling job(directory.path());
    job.estimator.train(Falling::data, {.max_steps = 5});
    CHECK(job.weight() == -5);
    has_trained = true;
    for (int time = 0; time < 5; ++time) {
      const Logs logs = job.estimator.evaluate(Falling::data, {.steps = 1});
      CHECK(logs.at("loss") == Approx(1e6 - 5));
      CHECK(job.estimator
                .predict([] {
                  return data::Dataset::from_tensor_slices(ones({2, 1})).batch(2);
                })
                .to_vector() == std::vector<float>{-5, -5});
    }
    has_evaluated = true;
    worker.join();
    CHECK(job.weight() == float(-5 - steps));
  }
}

TEST_CASE("a master's evaluation meets no step of the workers that train with it",
          "[train][estimator]") {
  const TemporaryDirectory directory;
  std::vector<float> weights(2);
  std::vector<int64_t> evaluations(2);
  run_clean(2, 1, [&](Strategy& strategy, int worker) {
    const auto scope = strategy.scope();
    Falling job(directory.path());
    TrainAndEvaluateOptions options{.workers_step_together = true};
    options.cluster.cluster_spec = ClusterSpec({{"master", {"a:1"}}, {"worker", {"b:1"}}});
    options.cluster.task_type = worker == 0 ? "master" : "worker";
    const auto result =
        train_and_evaluate(job.estimator, {.input_fn = Falling::data, .max_steps = 30},
                           {.input_fn = Falling::data, .steps = 2, .throttle_secs = 0}, options);
    weights[size_t(worker)] = job.weight();
    evaluations[size_t(worker)] = result.evaluations;
  });
  CHECK(weights == std::vector<float>{-30, -30});
  CHECK(evaluations == std::vector<int64_t>{6, 0});
  CHECK(latest_checkpoint(directory.path()) == directory / "model.ckpt-30");
}

TEST_CASE("an evaluation of an older checkpoint leaves the model its weights",
          "[train][estimator]") {
  const TemporaryDirectory directory;
  Falling job(directory.path());
  job.estimator.train(Falling::data, {.max_steps = 5});
  job.estimator.train(Falling::data, {.max_steps = 10});
  const std::string older = directory / "model.ckpt-5";
  CHECK(job.estimator.evaluate(Falling::data, {.steps = 1, .checkpoint_path = older}).at("loss") ==
        Approx(1e6 - 5));
  CHECK(job.weight() == -10);
}
