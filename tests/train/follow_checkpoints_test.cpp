#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/train/checkpoint_files.hpp>
#include <distribute/train/seconds_or_steps.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;

namespace {

/// Saves a checkpoint at each look of the loop that finds nothing, up to `last`.
struct Trainer {
  const TemporaryDirectory out = TemporaryDirectory();
  Variable step = train::make_counter("step");
  train::Checkpoint checkpoint{train::CheckpointParts{{"step", step}}};
  train::CheckpointManager manager{checkpoint, {.directory = out.path(), .max_to_keep = 2}};
  int saved = 0, last = 0;

  train::CheckpointsIterator checkpoints() {
    double now = 0;
    return train::CheckpointsIterator(out.path(), {.timeout = 10,
                                                   .clock = [now]() mutable { return now += 1; },
                                                   .sleep =
                                                       [this](double) {
                                                         if (saved < last) manager.save(++saved);
                                                       }});
  }
};

}  // namespace

TEST_CASE("every new checkpoint is read and evaluated until one was the last",
          "[train][follow_checkpoints]") {
  Trainer trainer;
  trainer.last = 5;
  auto checkpoints = trainer.checkpoints();
  std::vector<int64_t> numbers;
  const bool ended = train::follow_checkpoints(
      checkpoints, {.restore = [](const std::string&) { return true; },
                    .evaluate =
                        [&](const std::string& path) {
                          numbers.push_back(train::checkpoint_number(path).value());
                          return numbers.back() == 3;
                        }});
  CHECK(ended);
  CHECK(numbers == std::vector<int64_t>{1, 2, 3});
}

TEST_CASE("a checkpoint that could not be read comes again", "[train][follow_checkpoints]") {
  Trainer trainer;
  trainer.last = 1;
  auto checkpoints = trainer.checkpoints();
  int tries = 0, evaluated = 0;
  CHECK(train::follow_checkpoints(checkpoints,
                                  {.restore = [&](const std::string&) { return ++tries == 3; },
                                   .evaluate =
                                       [&](const std::string&) {
                                         ++evaluated;
                                         return true;
                                       }}));
  CHECK(tries == 3);
  CHECK(evaluated == 1);
}

TEST_CASE("without further checkpoints the loop gives up", "[train][follow_checkpoints]") {
  Trainer trainer;
  trainer.last = 2;
  auto checkpoints = trainer.checkpoints();
  int evaluated = 0;
  CHECK_FALSE(
      train::follow_checkpoints(checkpoints, {.restore = [](const std::string&) { return true; },
                                              .evaluate =
                                                  [&](const std::string&) {
                                                    ++evaluated;
                                                    return false;
                                                  }}));
  CHECK(evaluated == 2);
}
