/// Managed sessions and an evaluator in processes of their own: workers are killed and started
/// again.

#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/distribute.hpp>
#include <distribute/estimator.hpp>
#include <distribute/testing/process_cluster.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/small_fit.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/three_workers.hpp>

#include <bit>
#include <csignal>
#include <cstdio>

using namespace distribute;
using namespace distribute::testing;
namespace fs = std::filesystem;

namespace {

std::string bits_of(const nn::Module& net) {
  std::ostringstream text;
  for (const Variable& variable : net.trainable_variables())
    for (float value : train::value_to_save(variable).to_vector())
      text << std::hex << std::bit_cast<uint32_t>(value) << ' ';
  return text.str();
}

train::CompileOptions classifier(optim::Optimizer& optimizer) {
  return {.optimizer = optimizer, .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})};
}

}  // namespace

/// The words of the argument: directory, last step, the step at which it says that it is there.
DISTRIBUTE_CLUSTER_MAIN(trains_in_a_session) {
  std::istringstream words(task.argument());
  std::string directory;
  int64_t last = 0, pause = -1;
  words >> directory >> last >> pause;
  MultiWorkerMirroredStrategy strategy;
  const auto scope = strategy.scope();
  auto net = small_net();
  optim::Adam optimizer({.learning_rate = 0.01});
  train::Model model(net);
  model.compile(classifier(optimizer));
  auto iterator = strategy
                      .experimental_distribute_dataset(
                          small_data(30).shuffle(30, {.seed = 2}).repeat().batch(6))
                      .iterator();
  train::CheckpointParts parts = model.checkpoint_parts();
  parts.emplace_back("iterator", train::state_of(iterator));
  train::MonitoredTrainingSession session({.checkpoint_dir = directory,
                                           .parts = parts,
                                           .global_step = optimizer.iterations_variable(),
                                           .hooks = {train::StopAtStepHook({.last_step = last})},
                                           .save_checkpoint = {.steps = 4},
                                           .log_step_count_steps = {}});
  while (!session.should_stop()) {
    session.run([&] { return model.train_on_batch(iterator.get_next()); });
    if (session.global_step() == pause) std::printf("there\n"), std::fflush(stdout);
  }
  session.close();
  task.set_result(bits_of(net));
}

TEST_CASE("a session whose worker was killed ends, and a restart gives the same bits",
          "[train][session][multiproc]") {
  const TemporaryDirectory broken;
  const int killed = GENERATE(0, 2);
  {
    // Without an end of their own: the others must end by the loss of the killed one.
    ProcessCluster cluster(three_workers("trains_in_a_session", broken.path() + " 1000000000 10"));
    for (int w = 0; w < 3; ++w) cluster.expect_failure({"worker", w});
    cluster.wait_for_output({"worker", killed}, "there");
    cluster.kill({"worker", killed});
    for (const TaskOutcome& outcome : cluster.wait()) {
      CHECK_FALSE(outcome.status.ok());
      if (outcome.name != "worker " + std::to_string(killed))
        CHECK(outcome.err.find("a new session will be created") != std::string::npos);
    }
  }
  // How far it came is not known; so a run to a later step than any that it can have reached.
  const auto state = train::get_checkpoint_state(broken.path());
  REQUIRE(state);
  const int64_t step = *train::checkpoint_number(state->model_checkpoint_path);
  CHECK(step >= 8);
  CHECK(step % 4 == 0);
  const std::string last = std::to_string(step + 7);
  const auto resumed =
      ProcessCluster(three_workers("trains_in_a_session", broken.path() + " " + last)).join();
  const TemporaryDirectory again;
  const auto same =
      ProcessCluster(three_workers("trains_in_a_session", again.path() + " " + last)).join();
  REQUIRE(same[0].result->size() > 100);
  for (int w = 0; w < 3; ++w) CHECK(resumed[size_t(w)].result == same[0].result);
}

/// Worker 0 evaluates what worker 1 trains, each alone; worker 2 trains something else.
DISTRIBUTE_CLUSTER_MAIN(trains_or_evaluates) {
  auto net = small_net();
  optim::SGD optimizer({.learning_rate = 0.1});
  train::Model model(net);
  model.compile(classifier(optimizer));
  const std::string directory = task.argument() + (task.index() == 2 ? "/other" : "/ckpt");
  if (task.index() == 0) {
    train::SidecarEvaluator evaluator(
        model, small_data(9).batch(4),
        {.checkpoint_dir = directory, .max_evaluations = 5, .waiting = {.seconds_to_sleep = 0.01}});
    evaluator.start();
    task.set_result(str_cat(evaluator.last_logs().at("loss")));
    return;
  }
  train::Checkpoint checkpoint(net, optimizer);
  train::CheckpointManager manager(checkpoint, {.directory = directory, .max_to_keep = 1});
  for (int epoch = 0; epoch < 5; ++epoch) {
    model.fit(small_data(12).batch(4), {.verbose = train::Verbose::Silent});
    manager.save();
  }
  task.set_result(str_cat(model.evaluate(small_data(9).batch(4)).at("loss")));
}

TEST_CASE("an evaluator in its own process ends with the last checkpoint of the training",
          "[train][sidecar_evaluator][multiproc]") {
  const TemporaryDirectory directory;
  const auto outcomes =
      ProcessCluster(three_workers("trains_or_evaluates", directory.path())).join();
  CHECK(outcomes[0].result == outcomes[1].result);
  CHECK(fs::exists(directory / "other/ckpt-5.index"));
}

/// The argument is the directory. It tells at which step it begins, and when it has made ten.
DISTRIBUTE_CLUSTER_MAIN(trains_in_a_supervisor) {
  Variable steps(Tensor(int64_t{0}), {.name = "steps", .trainable = false});
  train::Supervisor supervisor(
      {.logdir = task.argument(), .parts = {{"steps", steps}}, .global_step = steps});
  supervisor.managed_session([&](train::MonitoredTrainingSession& session) {
    std::printf("begins at %lld.\n", (long long)session.global_step());
    const int64_t there = session.global_step() + 10;
    while (!supervisor.should_stop()) {
      session.run([&] { steps.assign_add(Tensor(int64_t{1})); });
      if (session.global_step() == there) std::printf("there\n");
      std::fflush(stdout);
    }
  });
}

TEST_CASE("a supervisor that is told to go saves, and its next start goes on",
          "[train][supervisor][multiproc]") {
  const TemporaryDirectory directory;
  ProcessClusterOptions options{
      .workers = 1, .function = "trains_in_a_supervisor", .argument = directory.path()};
  int64_t saved = 0;
  for (int start = 1; start <= 2; ++start) {
    ProcessCluster cluster(options);
    const TaskName worker{"worker", 0};
    cluster.expect_failure(worker);
    cluster.wait_for_output(worker, "begins at " + std::to_string(saved) + ".");
    cluster.wait_for_output(worker, "there");
    cluster.kill(worker, SIGTERM);
    CHECK(cluster.wait_for_end(worker).code == kExitPreempted);
    const auto state = train::get_checkpoint_state(directory.path());
    REQUIRE(state);
    const int64_t step = *train::checkpoint_number(state->model_checkpoint_path);
    CHECK(step >= saved + 10);
    saved = step;
  }
}
