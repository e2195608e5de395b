#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/distribute.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/thread_cluster.hpp>
#include <distribute/train/preemption_checkpoint_handler.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/temporary_directory.hpp>

#include <csignal>

using namespace distribute;
using namespace distribute::testing;
using train::Checkpoint;
using train::CheckpointManager;
namespace fs = std::filesystem;

namespace {

/// The words of a task's argument: a directory, and numbers.
struct Words {
  std::string directory;
  std::vector<int> numbers;
  explicit Words(const std::string& text) {
    std::istringstream in(text);
    in >> directory;
    for (int number = 0; in >> number;) numbers.push_back(number);
  }
};

int checkpoints_in(const std::string& directory) {
  int count = 0;
  for (const std::string& name : names_in(directory)) count += name.ends_with(".index");
  return count;
}

Variable make_counter() {
  return Variable(Tensor(int64_t{0}),
                  {.name = "v", .trainable = false, .aggregation = VariableAggregation::Sum});
}

ProcessClusterOptions tasks(int workers, const std::string& function, const std::string& argument,
                            const std::string& transport = "") {
  ProcessClusterOptions options{
      .workers = workers, .function = function, .argument = argument, .deadline_seconds = 300};
  options.environment["OMP_NUM_THREADS"] = "1";
  if (!transport.empty()) options.environment["DISTRIBUTE_TRANSPORT"] = transport;
  return options;
}

constexpr int kEpochs = 3, kSteps = 20;

}  // namespace

/// Counts steps in a variable; at step `stop` of the first start it waits for the test's signal.
DISTRIBUTE_CLUSTER_MAIN(counts_steps) {
  const Words words(task.argument());
  const int stop = words.numbers[0];
  MultiWorkerMirroredStrategy strategy;
  const auto scope = strategy.scope();
  const Variable v = make_counter();
  Checkpoint checkpoint({{"v", v}});
  PreemptionCheckpointHandler handler(strategy.cluster_resolver(), checkpoint,
                                      words.directory + "/ckpt");
  const bool first_start = handler.total_run_calls() == 0;
  while (handler.total_run_calls() < kEpochs * kSteps) {
    handler.run([&] { strategy.run([&] { v.assign_add(Tensor(int64_t{1})); }); });
    if (!first_start || handler.total_run_calls() != stop) continue;
    std::printf("waiting\n");
    std::fflush(stdout);
    wait_until([&] { return fs::exists(words.directory + "/go"); }, "the signal of the test");
  }
  task.set_result(std::to_string(v.value().item<int64_t>()));
}

TEST_CASE("SIGTERM to one worker: all save at one step and exit with 143, and none is lost (64)",
          "[train][preemption][multiproc]") {
  const int workers = GENERATE(2, 3, 5);
  const std::string transport = GENERATE("", "tcp");
  const TemporaryDirectory directory;
  const int preempted = (workers * 7 + int(transport.size())) % workers, stop = 5 + workers;
  const std::string argument = directory.path() + " " + std::to_string(stop);
  {
    ProcessCluster cluster(tasks(workers, "counts_steps", argument, transport));
    for (int w = 0; w < workers; ++w) cluster.wait_for_output({"worker", w}, "waiting");
    cluster.kill({"worker", preempted}, SIGTERM);
    std::ofstream(directory / "go") << "x";
    for (const TaskOutcome& outcome : cluster.wait()) {
      INFO(outcome.name << ": " << outcome.status.describe() << "\n" << outcome.err);
      CHECK(outcome.status.code == 143);
      CHECK(outcome.status.signal == 0);
      const bool chief = outcome.name == "worker 0";
      CHECK(chief ==
            (outcome.err.find("preempted: saving a checkpoint after ") != outcome.err.npos));
    }
  }
  CHECK(names_in(directory / "ckpt") ==
        std::set<std::string>{"checkpoint", "ckpt-1.index", "ckpt-1.data-00000-of-00001"});
  ProcessCluster cluster(tasks(workers, "counts_steps", argument, transport));
  for (const TaskOutcome& outcome : cluster.join())
    CHECK(outcome.result == std::to_string(workers * kEpochs * kSteps));
  CHECK(checkpoints_in(directory / "ckpt") == 1);
}

/// Trains a net on shuffled rows; with `stop` a worker ends the first start at that step.
DISTRIBUTE_CLUSTER_MAIN(trains_net) {
  const Words words(task.argument());
  const int stop = words.numbers[0], steps = 16;
  MultiWorkerMirroredStrategy strategy({.num_replicas = words.numbers[1]});
  const auto scope = strategy.scope();
  nn::Sequential model(nn::Dense({.units = 17, .activation = nn::tanh}), nn::BatchNormalization(),
                       nn::Dense({.units = 3}));
  optim::Adam optimizer({.learning_rate = 0.01f});
  const int64_t global_batch = 4 * strategy.num_replicas_in_sync();
  std::vector<float> x(120 * 5);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::sin(float(i));
  std::vector<int64_t> y(120);
  for (size_t i = 0; i < y.size(); ++i) y[i] = int64_t(i % 3);
  auto iterator =
      strategy
          .experimental_distribute_dataset(
              data::Dataset::from_tensor_slices(Tensor(Shape{120, 5}, x), Tensor(Shape{120}, y))
                  .shuffle(120, {.seed = 11})
                  .repeat()
                  .batch(global_batch))
          .iterator();
  Checkpoint checkpoint(
      {{"model", &model}, {"optimizer", &optimizer}, {"iterator", train::state_of(iterator)}});
  PreemptionCheckpointHandler handler(strategy.cluster_resolver(), checkpoint, words.directory);
  const auto step = [&](const data::Batch& batch) {
    GradientTape tape;
    const auto losses = nn::sparse_categorical_crossentropy(
        batch.y, model(batch.x, {.training = true}), {.from_logits = true});
    const auto loss = nn::compute_average_loss(losses, global_batch);
    const auto variables = model.trainable_variables();
    optimizer.apply_gradients(tape.gradient(loss, variables), variables);
  };
  const bool stops = handler.total_run_calls() == 0 && task.index() == stop % 2;
  while (handler.total_run_calls() < steps) {
    if (stops && handler.total_run_calls() == stop) std::raise(SIGTERM);
    handler.run([&] { strategy.run(step, iterator.get_next()); });
  }
  const std::vector<Variable> variables = model.trainable_variables();
  std::string bytes;
  for (const Variable& variable : variables)
    for (float value : train::value_to_save(variable).to_vector())
      bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  task.set_result(bytes);
}

TEST_CASE("an interrupted run ends with the bits of one that was not, shuffled data and all",
          "[train][preemption][multiproc]") {
  const int workers = GENERATE(2, 3, 5), replicas = GENERATE(1, 2);
  const TemporaryDirectory directory;
  const auto argument = [&](const std::string& name, int stop) {
    return directory / name + " " + std::to_string(stop) + " " + std::to_string(replicas);
  };
  const auto wanted = ProcessCluster(tasks(workers, "trains_net", argument("a", -1))).join();
  const auto stopped = ProcessCluster(tasks(workers, "trains_net", argument("b", 7))).wait();
  for (const TaskOutcome& outcome : stopped) REQUIRE(outcome.status.code == 143);
  const auto resumed = ProcessCluster(tasks(workers, "trains_net", argument("b", 7))).join();
  REQUIRE(wanted[0].result->size() > 100);
  for (int w = 0; w < workers; ++w) {
    CHECK(wanted[size_t(w)].result == wanted[0].result);
    CHECK(resumed[size_t(w)].result == wanted[0].result);
  }
}

DISTRIBUTE_CLUSTER_MAIN(fails_at_step_3) {
  const Words words(task.argument());
  MultiWorkerMirroredStrategy strategy;
  const auto scope = strategy.scope();
  const Variable v = make_counter();
  Checkpoint checkpoint({{"v", v}});
  PreemptionCheckpointHandler handler(strategy.cluster_resolver(), checkpoint, words.directory);
  try {
    for (int step = 0; step < 50; ++step)
      handler.run([&] {
        if (step == 3 && task.index() == 1) throw ResourceExhaustedError("no memory left here");
        strategy.run([&] { v.assign_add(Tensor(int64_t{1})); });
      });
  } catch (const Error& error) {
    task.set_result(str_cat(int(error.code()), " ", error.what()));
  }
}

TEST_CASE("an error in one worker's step is raised by all of them (65)",
          "[train][preemption][multiproc]") {
  const int workers = GENERATE(2, 3);
  const TemporaryDirectory directory;
  ProcessCluster cluster(tasks(workers, "fails_at_step_3", directory.path()));
  const auto outcomes = cluster.wait();
  for (const TaskOutcome& outcome : outcomes) {
    INFO(outcome.name << "\n" << outcome.err);
    REQUIRE(outcome.result.has_value());
    CHECK_THAT(*outcome.result, Contains("no memory left here"));
    CHECK_THAT(*outcome.result,
               StartsWith(std::to_string(int(StatusCode::ResourceExhausted)) + " "));
  }
}

/// Saves again and again, 32 MB each, or once after restoring.
DISTRIBUTE_CLUSTER_MAIN(saves_much) {
  const Words words(task.argument());
  const bool for_ever = words.numbers[0] != 0;
  MultiWorkerMirroredStrategy strategy;
  const auto scope = strategy.scope();
  const Variable v(fill(Shape{8 << 20}, 0.0f), {.name = "v"});
  Checkpoint checkpoint({{"v", v}});
  CheckpointManager manager(checkpoint, {.directory = words.directory, .max_to_keep = 2});
  manager.restore_latest();
  task.set_result(str_cat(checkpoint.save_counter(), " ", v.value().rows(0, 1).to_vector()[0]));
  do {
    v.assign(fill(Shape{8 << 20}, float(checkpoint.save_counter() + 1)));
    std::printf("saving %lld.\n", (long long)checkpoint.save_counter() + 1);
    std::fflush(stdout);
    manager.save();
  } while (for_ever);
}

TEST_CASE("kill -9 in the middle of saving leaves the previous checkpoint whole",
          "[train][checkpoint][multiproc]") {
  const int workers = GENERATE(2, 3), killed = GENERATE(0, 1), at = GENERATE(1, 3, 4);
  const TemporaryDirectory directory;
  {
    ProcessCluster cluster(tasks(workers, "saves_much", directory.path() + " 1"));
    for (int w = 0; w < workers; ++w) cluster.expect_failure({"worker", w});
    cluster.wait_for_output({"worker", killed}, "saving " + std::to_string(at) + ".");
    cluster.kill({"worker", killed});
    cluster.wait();
  }
  const auto state = train::get_checkpoint_state(directory.path());
  int64_t saved = 0;
  if (state) {
    for (const std::string& path : state->all_model_checkpoint_paths) {
      train::BundleReader reader(path);
      for (const std::string& key : reader.keys())
        if (key.find("VARIABLE_VALUE") != std::string::npos) train::read_tensor(reader, key);
    }
    const std::string& latest = state->model_checkpoint_path;
    saved = std::stoll(latest.substr(latest.rfind('-') + 1));
  }
  CHECK(saved >= at - 1);
  ProcessCluster again(tasks(workers, "saves_much", directory.path() + " 0"));
  for (const TaskOutcome& outcome : again.join())
    CHECK(outcome.result == std::to_string(saved) + " " + std::to_string(saved));
  for (const std::string& name : names_in(directory.path())) {
    CHECK_THAT(name, !Contains("workertemp_"));
    CHECK_THAT(name, !Contains("tempstate"));
  }
  CHECK(train::latest_checkpoint(directory.path()) ==
        directory / ("ckpt-" + std::to_string(saved + 1)));
}

/// The chief's disk is full for the second of three saves.
DISTRIBUTE_CLUSTER_MAIN(saves_on_a_full_disk) {
  const Words words(task.argument());
  MultiWorkerMirroredStrategy strategy;
  const auto scope = strategy.scope();
  const Variable v(fill(Shape{100'000}, 1.0f), {.name = "v"});
  Checkpoint checkpoint({{"v", v}});
  CheckpointManager manager(checkpoint, {.directory = words.directory});
  manager.save();
  try {
    std::optional<FileSizeLimit> limit;
    if (strategy.extended().should_checkpoint()) limit.emplace(1000);
    manager.save();
  } catch (const Error& error) {
    task.set_result(str_cat(manager.checkpoints().size(), " ", error.what()));
  }
  manager.save();
}

TEST_CASE("the chief's full disk is one error on all workers, and they can go on",
          "[train][checkpoint][multiproc]") {
  const bool chief = GENERATE(true, false);
  const TemporaryDirectory directory;
  auto options = tasks(chief ? 2 : 3, "saves_on_a_full_disk", directory / "ckpt");
  options.chief = chief;
  const auto outcomes = ProcessCluster(options).join();
  for (const TaskOutcome& outcome : outcomes) {
    CHECK_THAT(outcome.result.value_or(""), Contains("1 rank 0 of 3: ") && Contains("ckpt-2"));
    CHECK(outcome.result == outcomes[0].result);
  }
  CHECK(names_in(directory / "ckpt") ==
        std::set<std::string>{"checkpoint", "ckpt-1.index", "ckpt-1.data-00000-of-00001",
                              "ckpt-2.index", "ckpt-2.data-00000-of-00001"});
}

DISTRIBUTE_CLUSTER_MAIN(saves_a_net) {
  MultiWorkerMirroredStrategy strategy;
  const auto scope = strategy.scope();
  nn::Sequential model(nn::Dense({.units = 7}), nn::BatchNormalization());
  optim::Adam optimizer({.learning_rate = 0.01f});
  model(fill(Shape{1, 5}, 1.0f));
  Checkpoint checkpoint(model, optimizer);
  CheckpointManager manager(checkpoint, {.directory = task.argument()});
  manager.save();
  train::save_weights(task.argument() + "/flat", model.variables());
}

TEST_CASE("processes write the files that one process writes", "[train][checkpoint][multiproc]") {
  const int workers = GENERATE(2, 3, 5);
  const TemporaryDirectory alone, together;
  ProcessCluster(tasks(1, "saves_a_net", alone.path())).join();
  ProcessCluster(tasks(workers, "saves_a_net", together.path())).join();
  REQUIRE(names_in(alone.path()).size() == 5);
  REQUIRE(names_in(alone.path()) == names_in(together.path()));
  for (const std::string& name : names_in(alone.path())) {
    if (name == "checkpoint") continue;  // holds the time
    CHECK(file_text(alone / name) == file_text(together / name));
  }
}
