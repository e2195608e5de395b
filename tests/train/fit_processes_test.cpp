/// fit on several workers that are processes: killed in the middle, started again.

#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/distribute.hpp>
#include <distribute/testing/process_cluster.hpp>
#include <distribute/testing/thread_cluster.hpp>
#include <distribute/train/backup_and_restore.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/cluster_main.hpp>
#include <tests/support/small_fit.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/three_workers.hpp>

#include <bit>
#include <csignal>

using namespace distribute;
using namespace distribute::testing;
using train::Logs;
namespace fs = std::filesystem;

namespace {

/// Every bit of the trained weights, and of the training's figures of the last epoch. Moving values
/// of batch normalization are replicas' means in a checkpoint, so theirs differ by rounding.
std::string result_of(const nn::Module& net, const train::History& history) {
  std::ostringstream text;
  for (const Variable& variable : net.trainable_variables())
    for (float value : train::value_to_save(variable).to_vector())
      text << std::hex << std::bit_cast<uint32_t>(value) << ' ';
  for (const auto& [name, values] : history.history)
    if (!name.starts_with("val_"))
      text << name << ' ' << std::bit_cast<uint64_t>(values.back()) << ' ';
  return text.str();
}

}  // namespace

/// The words of the argument: directory, batches between backups (0: one an epoch), the batch at
/// which the first start waits to be killed or told to go (-1: it does not), whether epochs have a
/// number of steps.
DISTRIBUTE_CLUSTER_MAIN(fits_and_is_interrupted) {
  std::istringstream words(task.argument());
  std::string directory;
  int every = 0, stop = -1;
  bool steps = false, preempted = false;
  words >> directory >> every >> stop >> steps >> preempted;
  MultiWorkerMirroredStrategy strategy;
  const auto scope = strategy.scope();
  random::set_seed(4);
  nn::Sequential net(nn::Dense({.units = 9, .activation = nn::tanh}), nn::BatchNormalization(),
                     nn::Dense({.units = 3}));
  optim::Adam optimizer({.learning_rate = 0.01});
  train::Model model(net);
  model.compile({.optimizer = optimizer,
                 .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {nn::metrics::SparseCategoricalAccuracy("accuracy")},
                 .gradient_accumulation_steps = 2});
  int64_t total = 0;
  train::LambdaCallback waiter({.on_train_batch_end = [&](int64_t, Logs&) {
    if (++total != stop || fs::exists(directory + "/started")) return;
    std::printf("waiting\n");
    std::fflush(stdout);
    wait_until([&] { return fs::exists(directory + "/go"); }, "the signal of the test");
  }});
  train::BackupAndRestoreOptions backup{.backup_dir = directory + "/backup"};
  if (every) backup.save_freq = every;
  backup.save_before_preemption = preempted;
  const auto rows = small_data(62).shuffle(62, {.seed = 9});
  train::FitOptions options{.epochs = 3,
                            .validation_data = small_data(10).batch(6),
                            .callbacks = {train::BackupAndRestore(backup), waiter},
                            .verbose = train::Verbose::Silent};
  if (steps) options.steps_per_epoch = 7;
  const auto history = model.fit((steps ? rows.repeat() : rows).batch(6), options);
  task.set_result(result_of(net, history));
}

TEST_CASE("a worker killed in the middle of an epoch: after a restart every bit is the same",
          "[train][fit][multiproc]") {
  // Backups every 3 batches, and one an epoch; epochs over the data, and of 7 steps.
  const std::string mode = GENERATE("3 16 0 0", "0 16 0 0", "3 16 1 0", "2 11 1 0");
  const TemporaryDirectory whole, broken;
  std::istringstream words(mode);
  std::string every, stop, steps;
  words >> every >> stop >> steps;
  const auto wanted = ProcessCluster(three_workers("fits_and_is_interrupted",
                                                   whole.path() + " " + every + " -1 " + steps))
                          .join();
  {
    ProcessCluster cluster(three_workers("fits_and_is_interrupted", broken.path() + " " + mode));
    for (int w = 0; w < 3; ++w) {
      cluster.wait_for_output({"worker", w}, "waiting");
      cluster.expect_failure({"worker", w});
    }
    cluster.kill({"worker", 1});
    std::ofstream(broken / "go") << "x";
    cluster.wait();
  }
  REQUIRE(fs::exists(broken / "backup/chief/checkpoint"));
  std::ofstream(broken / "started") << "x";
  const auto resumed =
      ProcessCluster(three_workers("fits_and_is_interrupted", broken.path() + " " + mode)).join();
  REQUIRE(wanted[0].result->size() > 100);
  for (int w = 0; w < 3; ++w) {
    CHECK(wanted[size_t(w)].result == wanted[0].result);
    INFO(mode);
    CHECK(resumed[size_t(w)].result == wanted[0].result);
  }
  CHECK_FALSE(fs::exists(broken / "backup/chief"));  // not needed any more
}

TEST_CASE("SIGTERM during fit: all save at one batch, and a restart goes on there",
          "[train][fit][multiproc]") {
  const TemporaryDirectory whole, broken;
  const auto wanted =
      ProcessCluster(three_workers("fits_and_is_interrupted", whole.path() + " 0 -1 0 1")).join();
  {
    ProcessCluster cluster(three_workers("fits_and_is_interrupted", broken.path() + " 0 16 0 1"));
    for (int w = 0; w < 3; ++w) cluster.wait_for_output({"worker", w}, "waiting");
    cluster.kill({"worker", 2}, SIGTERM);
    std::ofstream(broken / "go") << "x";
    for (const TaskOutcome& outcome : cluster.wait()) CHECK(outcome.status.code == 143);
  }
  std::ofstream(broken / "started") << "x";
  for (const TaskOutcome& outcome :
       ProcessCluster(three_workers("fits_and_is_interrupted", broken.path() + " 0 16 0 1")).join())
    CHECK(outcome.result == wanted[0].result);
}
