#include <distribute/data/dataset.hpp>
#include <distribute/strategy/central_storage_strategy.hpp>
#include <distribute/strategy/distributed_dataset.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/strategy/one_device_strategy.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/backup_and_restore.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>

using namespace distribute;
using train::BackupAndRestore;
using train::BackupAndRestoreOptions;
namespace fs = std::filesystem;

namespace {

constexpr int kSteps = 5, kEpochs = 4;

struct Interrupted {};

/// A loop over shuffled numbers; its sum of weighted numbers depends on their order.
struct Loop {
  Strategy& strategy;
  Variable sum{Tensor(0.0f),
               {.name = "sum", .trainable = false, .aggregation = VariableAggregation::Sum}};
  DistributedIterator iterator;
  BackupAndRestore backup;
  int64_t trained = 0;

  Loop(Strategy& of, BackupAndRestoreOptions options)
      : strategy(of),
        iterator(input(of).iterator()),
        backup({{"sum", sum}, {"iterator", train::state_of(iterator)}}, std::move(options)) {}

  static DistributedDataset input(Strategy& strategy) {
    std::vector<float> numbers(30);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = float(i);
    return strategy.distribute_datasets_from_function([numbers](const InputContext& input) {
      return data::Dataset::from_tensor_slices(Tensor(Shape{30}, numbers))
          .shard(input.num_input_pipelines(), input.input_pipeline_id())
          .shuffle(30, {.seed = 5})
          .repeat()
          .batch(1);
    });
  }

  /// Trains to the end, or until `interrupted_after` batches of this start.
  void train(int64_t interrupted_after, std::optional<int64_t> steps_per_epoch = kSteps) {
    backup.on_train_begin();
    auto at = backup.start(steps_per_epoch);
    for (; at.epoch < kEpochs; at = {at.epoch + 1, 0}) {
      backup.on_epoch_begin(at.epoch);
      for (; at.batch < kSteps; ++at.batch) {
        if (trained == interrupted_after) throw Interrupted();
        const auto batch = iterator.get_next();
        strategy.run(
            [&](const data::Batch& mine) {
              sum.assign_add(Tensor(mine.x.to_vector()[0] * float(trained + 1) +
                                    sum.value().item<float>() * 0.25f));
            },
            batch);
        ++trained;
        backup.on_train_batch_end(at.batch);
      }
      backup.on_epoch_end(at.epoch);
    }
    backup.on_train_end();
  }
};

}  // namespace

TEST_CASE("an interrupted loop continues behind its backup (case 115)", "[train][backup]") {
  struct Case {
    train::SaveFrequency save_freq;
    int64_t interrupted_after, epoch, batch;
  };
  const auto one = GENERATE(Case{"epoch", 12, 2, 0}, Case{"epoch", 3, 0, 0}, Case{3, 8, 1, 1},
                            Case{5, 7, 1, 0}, Case{1, 19, 3, 4}, Case{100, 8, 0, 0});
  const int workers = GENERATE(1, 2, 3);
  const TemporaryDirectory directory;
  const BackupAndRestoreOptions options{.backup_dir = directory / "backup",
                                        .save_freq = one.save_freq};
  run_clean(workers, 1, [&](Strategy& strategy, int) {
    const auto scope = strategy.scope();
    Loop loop(strategy, options);
    try {
      loop.train(one.interrupted_after);
      throw InternalError("wrong: not interrupted");
    } catch (const Interrupted&) {
    }
  });
  REQUIRE(names_in(directory / "backup") == std::set<std::string>{"chief"});
  run_clean(workers, 1, [&](Strategy& strategy, int) {
    const auto scope = strategy.scope();
    Loop loop(strategy, options);
    loop.backup.on_train_begin();
    const auto at = loop.backup.start(kSteps);
    require(at.epoch == one.epoch && at.batch == one.batch, "where it begins");
    require(loop.backup.train_counter() == at.epoch * kSteps + at.batch, "train_counter");
  });
}

TEST_CASE("with the iterator in the backup the resumed run has the bits of the other",
          "[train][backup]") {
  const int workers = GENERATE(1, 2, 3, 5);
  const TemporaryDirectory directory;
  std::vector<float> wanted(size_t(workers), -1), resumed(size_t(workers), -2);
  const auto train = [&](Strategy& strategy, const std::string& name, int64_t interrupted_after,
                         std::vector<float>& result, int w) {
    const auto scope = strategy.scope();
    Loop loop(strategy, {.backup_dir = directory / name, .save_freq = 1});
    loop.backup.on_train_begin();
    loop.trained = loop.backup.train_counter();
    try {
      loop.train(interrupted_after);
    } catch (const Interrupted&) {
      return;
    }
    result[size_t(w)] = loop.sum.value().item<float>();
  };
  run_clean(workers, 1, [&](Strategy& strategy, int w) { train(strategy, "a", -1, wanted, w); });
  for (int64_t stop : {4, 13, -1})
    run_clean(workers, 1,
              [&](Strategy& strategy, int w) { train(strategy, "b", stop, resumed, w); });
  CHECK(wanted == resumed);
  CHECK(wanted[0] > 0);
}

TEST_CASE("a backup is removed at the end, unless it is to stay", "[train][backup]") {
  const bool stays = GENERATE(true, false);
  const TemporaryDirectory directory;
  run_clean(2, 1, [&](Strategy& strategy, int) {
    const auto scope = strategy.scope();
    Loop(strategy, {.backup_dir = directory.path(), .delete_checkpoint = !stays}).train(-1);
  });
  CHECK(names_in(directory.path()).size() == (stays ? 1 : 0));
}

TEST_CASE("a backup before preemption is taken at any batch", "[train][backup]") {
  struct Exited {};
  const int workers = GENERATE(1, 2, 3);
  const TemporaryDirectory directory;
  for (const int start : {0, 1})
    run_clean(workers, 1, [&](Strategy& strategy, int w) {
      const auto scope = strategy.scope();
      Loop* running = nullptr;
      Loop loop(strategy,
                {.backup_dir = directory.path(),
                 .save_freq = false,
                 .save_before_preemption = true,
                 .termination_config = {
                     .termination_watcher_fn =
                         [&] { return start == 0 && w == workers - 1 && running->trained == 7; },
                     .exit_fn = [] { throw Exited(); }}});
      running = &loop;
      try {
        loop.train(-1);
        require(start == 1 && loop.trained == kSteps * kEpochs - 7, "the batches after the backup");
      } catch (const Exited&) {
        require(start == 0 && loop.trained == 7, "the batches before the backup");
      }
    });
}

TEST_CASE("what cannot be backed up is an error", "[train][backup]") {
  const TemporaryDirectory directory;
  const train::CheckpointParts parts{{"step", Variable(Tensor(0.0f), {.name = "step"})}};
  CHECK_THROWS_SAYING(BackupAndRestore(parts, {.backup_dir = directory.path(), .save_freq = false}),
                      InvalidArgumentError, "Either `save_freq` or `save_before_preemption`");
  CHECK_THROWS_SAYING(BackupAndRestore(parts, {}), InvalidArgumentError, "backup_dir");
  CHECK_THROWS_SAYING(train::SaveFrequency("batch"), InvalidArgumentError, "\"batch\"");
  CHECK_THROWS_SAYING(train::SaveFrequency(-3), InvalidArgumentError, "-3");
  CHECK_THROWS_SAYING(train::SaveFrequency(true), InvalidArgumentError, "false");
  const auto begin = [&](Strategy& strategy) {
    const auto scope = strategy.scope();
    BackupAndRestore(parts, {.backup_dir = directory.path()}).on_train_begin();
  };
  CentralStorageStrategy central;
  OneDeviceStrategy one("/cpu:0");
  MirroredStrategy mirrored({.num_replicas = 1});
  CHECK_THROWS_SAYING(begin(central), UnimplementedError, "CentralStorageStrategy");
  CHECK_THROWS_SAYING(begin(one), UnimplementedError, "OneDeviceStrategy");
  begin(mirrored);
  BackupAndRestore(parts, {.backup_dir = directory.path()}).on_train_begin();
}
