/// fit, evaluate and predict with a coordinator: 1 chief, 3 workers and 2 parameter servers that
/// are processes, of which some are killed.

#include <distribute/distribute.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/support/cluster_main.hpp>
#include <tests/support/small_fit.hpp>
#include <tests/support/temporary_directory.hpp>

#include <csignal>

using namespace distribute;
using namespace distribute::testing;
using train::Logs;
namespace fs = std::filesystem;

namespace {

/// A worker that dies once, when its first steps have been applied and before it says so.
class DyingModel : public train::Model {
 public:
  DyingModel(nn::Module& module, bool dies) : Model(module), dies_(dies) {}

 protected:
  train::StepLogs train_step(const data::Batch& batch) override {
    train::StepLogs logs = Model::train_step(batch);
    if (dies_ && ++steps_ == 4) ::raise(SIGKILL);
    return logs;
  }

 private:
  const bool dies_;
  int steps_ = 0;
};

/// What one process after the other makes, in the scope.
struct Job {
  explicit Job(bool dies, float rate) : optimizer({.learning_rate = rate}), model(net, dies) {
    random::set_seed(4);
    model.compile({.optimizer = optimizer,
                   .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {nn::metrics::SparseCategoricalAccuracy("accuracy")},
                   .steps_per_execution = 2});
  }
  nn::Sequential net{nn::Dense({.units = 8, .activation = nn::tanh}), nn::Dense({.units = 3})};
  optim::SGD optimizer;
  DyingModel model;
  RemoteDataset endless{"endless", [](const InputContext&) {
                          return small_data(60).shuffle(60, {.seed = 9}).repeat().batch(6);
                        }};
};

ProcessClusterOptions job_with(const std::string& function, const std::string& argument = "") {
  return {.workers = 3,
          .parameter_servers = 2,
          .chief = true,
          .function = function,
          .argument = argument,
          .environment = {{"OMP_NUM_THREADS", "1"},
                          {"DISTRIBUTE_HEARTBEAT_INTERVAL", "0.2"},
                          {"DISTRIBUTE_LOST_AFTER", "5"}},
          .deadline_seconds = 300,
          .auto_restart = true};
}

bool is_close(double a, double b) { return std::abs(a - b) < 1e-5; }

/// Loss and accuracy of all rows at once.
Logs figures_of(const nn::Module& net, const data::Batch& all) {
  const Tensor logits = const_cast<nn::Module&>(net)(all.x);
  const auto losses = nn::sparse_categorical_crossentropy(all.y, logits, {.from_logits = true});
  const auto right = nn::metrics::sparse_categorical_accuracy(all.y, logits);
  return {{"loss", double(reduce_mean(losses).item<float>())},
          {"accuracy", double(reduce_mean(right).item<float>())}};
}

/// "" or what differs.
std::string difference(const Logs& got, const Logs& wanted) {
  std::string text;
  for (const auto& [name, value] : wanted)
    if (!got.find(name) || !is_close(got.at(name), value))
      text += str_cat(name, ": ", got.find(name) ? got.at(name) : -1, " instead of ", value, "\n");
  return text;
}

std::string expect(bool right, const std::string& what) { return right ? "" : what + "\n"; }

std::string weights_of(const nn::Module& net) {
  std::string text;
  for (const Variable& variable : net.trainable_variables())
    for (const float value : variable.value().to_vector()) text += str_cat(value, " ");
  return text;
}

}  // namespace

// The learning rate is 0, so that figures of an epoch are those of the weights.
DISTRIBUTE_CLUSTER_MAIN(fit_counts_every_example_once) {
  TFConfigClusterResolver resolver;
  ParameterServerStrategy strategy(resolver);
  const auto scope = strategy.scope();
  Job job(task.type() == "worker" && task.restarts() == 0 && task.index() != 0, 0);
  if (resolver.task_type() != TaskType::Chief)
    return task.set_result(std::to_string(Server(strategy).join()));
  ClusterCoordinator coordinator(strategy);
  const auto all_are_back = [&](int64_t, Logs&) {
    wait_until([&] { return coordinator.num_live_workers() == 3; }, "the workers' return");
  };
  train::LambdaCallback wait({.on_epoch_end = all_are_back});
  const auto rows = small_data(62).batch(4);  // the last batch has 2
  const auto history = job.model.fit(
      rows, {.epochs = 2, .validation_data = small_data(10).batch(6), .callbacks = {wait}});
  const data::Batch all = small_data(62).batch(62).iterator().next();
  const data::Batch ten = small_data(10).batch(10).iterator().next();
  std::string wrong;
  for (const size_t epoch : {0, 1}) {
    Logs got, validated;
    for (const auto& [name, values] : history.history)
      name.starts_with("val_") ? validated.set(name.substr(4), values[epoch])
                               : got.set(name, values[epoch]);
    wrong += difference(got, figures_of(job.net, all));
    wrong += difference(validated, figures_of(job.net, ten));
  }
  wrong += expect(job.optimizer.iterations() == 32, "number of updates");
  wrong += difference(job.model.evaluate(rows), figures_of(job.net, all));
  const Tensor predicted = job.model.predict(rows);
  wrong += expect(predicted.shape() == Shape({62, 3}), to_string(predicted.shape()));
  wrong += expect(predicted.to_vector() == job.net(all.x).to_vector(), "predictions");
  task.set_result("figures:" + wrong);
}

TEST_CASE("with a coordinator every example counts once, also those of killed workers",
          "[train][fit][coordinated][multiproc]") {
  ProcessCluster cluster(job_with("fit_counts_every_example_once"));
  const auto outcomes = cluster.join();
  INFO(cluster.all_output());
  CHECK(outcomes[0].result == "figures:");
  CHECK(outcomes[1].starts == 1);
  CHECK(outcomes[2].starts + outcomes[3].starts >= 3);
  for (size_t worker = 1; worker <= 3; ++worker) CHECK(outcomes[worker].result == "0");
}

// The argument is a directory. The chief dies once, after its second epoch.
DISTRIBUTE_CLUSTER_MAIN(fit_learns_with_coordinator) {
  TFConfigClusterResolver resolver;
  ParameterServerStrategy strategy(resolver);
  const auto scope = strategy.scope();
  Job job(task.type() == "worker" && task.restarts() == 0 && task.index() == 1, 0.3f);
  if (resolver.task_type() != TaskType::Chief)
    return task.set_result(std::to_string(Server(strategy).join()));
  std::string weights, wrong;
  const bool dies = task.restarts() == 0;
  train::LambdaCallback watch({.on_epoch_end = [&](int64_t epoch, Logs&) {
    if (epoch == 1 && dies) ::raise(SIGKILL);
    if (epoch == 3) weights = weights_of(job.net);
  }});
  const std::string directory = task.argument();
  const auto history = job.model.fit(
      job.endless, {.epochs = 5,
                    .steps_per_epoch = 25,
                    .validation_data = job.endless,
                    .validation_steps = 10,
                    .callbacks = {train::TensorBoard({.log_dir = directory + "/logs"}),
                                  train::ModelCheckpoint({.filepath = directory + "/ckpt-{epoch}"}),
                                  train::BackupAndRestore({.backup_dir = directory + "/backup"}),
                                  train::LearningRateScheduler(
                                      [](int64_t epoch) { return epoch < 4 ? 0.3 : 0; }),
                                  watch}});
  wrong += expect(history.epoch == std::vector<int64_t>{1, 2, 3, 4}, "epochs after the return");
  const auto& losses = history.history.at("loss");
  wrong += expect(losses.back() < 0.85, str_cat("loss ", losses.back()));
  wrong += expect(history.history.at("val_accuracy").back() > 0.6, "accuracy");
  wrong += expect(weights == weights_of(job.net), "the learning rate of the last epoch");
  // 25 updates an epoch, each counted once: those of the second one came after the backup.
  wrong += expect(job.optimizer.iterations() == 125, "number of updates");
  nn::Sequential read{nn::Dense({.units = 8, .activation = nn::tanh}), nn::Dense({.units = 3})};
  read(zeros({1, 5}));
  train::Checkpoint checkpoint({{"model", &read}});
  checkpoint.restore(directory + "/ckpt-5").expect_partial();
  wrong += expect(weights_of(read) == weights, "checkpoint");
  task.set_result("learned:" + wrong);
}

TEST_CASE("fit with a coordinator learns, and goes on from its backup when the chief was killed",
          "[train][fit][coordinated][multiproc]") {
  const TemporaryDirectory directory;
  ProcessCluster cluster(job_with("fit_learns_with_coordinator", directory.path()));
  const auto outcomes = cluster.join();
  INFO(cluster.all_output());
  CHECK(outcomes[0].result == "learned:");
  CHECK(outcomes[0].starts == 2);
  CHECK(outcomes[2].starts >= 2);
  CHECK(fs::exists(directory / "logs/train"));
  CHECK_FALSE(fs::exists(directory / "backup/chief"));
}

DISTRIBUTE_CLUSTER_MAIN(fit_refuses_with_coordinator) {
  TFConfigClusterResolver resolver;
  ParameterServerStrategy strategy(resolver);
  const auto scope = strategy.scope();
  Job job(false, 0.1f);
  std::string errors;
  const auto note = [&](const auto& body) {
    try {
      body();
      errors += "none\n";
    } catch (const Error& error) {
      errors += error.what() + std::string("\n");
    }
  };
  if (resolver.task_type() != TaskType::Chief) {
    if (task.type() == "worker") note([&] { job.model.fit(job.endless, {.steps_per_epoch = 1}); });
    Server(strategy).join();
    return task.set_result(errors);
  }
  class Batches : public train::Callback {
    void on_test_batch_end(int64_t, Logs&) override {}
  };
  class Epochs : public train::Callback {
    void on_epoch_end(int64_t, Logs&) override {}
  };
  const auto fit_with = [&](train::CallbackHandle callback) {
    note([&] { job.model.fit(job.endless, {.steps_per_epoch = 2, .callbacks = {callback}}); });
  };
  fit_with(Batches());
  fit_with(train::LambdaCallback({.on_train_batch_begin = [](int64_t, Logs&) {}}));
  fit_with(train::ModelCheckpoint({.filepath = "x", .save_freq = 3}));
  fit_with(Epochs());
  note([&] { job.model.fit(job.endless); });
  note([&] { job.model.evaluate(job.endless); });
  note([&] { job.model.fit(strategy.experimental_distribute_dataset(small_data(8).batch(4))); });
  note([&] {
    job.model.compile({.optimizer = job.optimizer,
                       .loss = nn::SparseCategoricalCrossentropy(),
                       .gradient_accumulation_steps = 2});
  });
  const auto ends = [](const InputContext&) { return small_data(8).batch(4); };
  note([&] {
    if (job.model.fit(ends, {.epochs = 3, .steps_per_epoch = 50}).epoch.size() == 1)
      throw Error(StatusCode::Unknown, "one epoch");
  });
  job.model.compile({.optimizer = job.optimizer, .loss = nn::SparseCategoricalCrossentropy()});
  note([&] { job.model.fit(job.endless, {.steps_per_epoch = 2}); });
  task.set_result(errors);
}

TEST_CASE("what a coordinator cannot do is refused", "[train][fit][coordinated][multiproc]") {
  ProcessCluster cluster(job_with("fit_refuses_with_coordinator"));
  const auto outcomes = cluster.join();
  std::istringstream lines(*outcomes[0].result);
  for (const char* wanted :
       {"Found unsupported callbacks: Batches", "LambdaCallback", "ModelCheckpoint", "none",
        "fit: When using a `DatasetCreator`, `steps_per_epoch` must be provided.",
        "evaluate: When using a `DatasetCreator`, `steps` must be provided.",
        "give fit or evaluate a DatasetCreator", "take larger batches", "one epoch",
        "call compile() in every process before Server::join()"}) {
    std::string line;
    std::getline(lines, line);
    INFO(line);
    CHECK(line.find(wanted) != std::string::npos);
  }
  for (const size_t worker : {1, 2, 3})
    CHECK(outcomes[worker].result.value().find("`return Server(strategy).join();`") !=
          std::string::npos);
}

TEST_CASE("a DatasetCreator is data under other strategies, too", "[train][fit][coordinated]") {
  MirroredStrategy strategy({"/cpu:0", "/cpu:1"});
  const auto scope = strategy.scope();
  nn::Sequential net(nn::Dense({.units = 3}));
  optim::SGD optimizer({.learning_rate = 0.1f});
  train::Model model(net);
  model.compile(
      {.optimizer = optimizer, .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
  const auto function = [](const InputContext& input) {
    return small_data(12).batch(input.get_per_replica_batch_size(6)).repeat();
  };
  const auto history = model.fit(train::DatasetCreator(function),
                                 {.steps_per_epoch = 4, .verbose = train::Verbose::Silent});
  CHECK(history.history.at("loss").size() == 1);
  CHECK(model.global_batch_size() == 6);
  CHECK_THROWS_AS(model.fit(function), InvalidArgumentError);
}
