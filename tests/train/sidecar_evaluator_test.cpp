#include <distribute/base/status.hpp>
#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/train/seconds_or_steps.hpp>
#include <distribute/train/sidecar_evaluator.hpp>
#include <distribute/train/tensor_board.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/small_fit.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
using namespace distribute::train;
namespace fs = std::filesystem;

namespace {

/// A training that saves when it is told to, with its own model.
struct Trainer {
  nn::Sequential net = small_net();
  optim::Adam optimizer{{.learning_rate = 0.02}};
  Model model{net};
  Checkpoint checkpoint{net, optimizer};
  CheckpointManager manager;
  std::vector<double> losses;  // of the test data, by checkpoint

  explicit Trainer(const std::string& directory)
      : manager(checkpoint, {.directory = directory, .max_to_keep = 2}) {
    model.compile(
        {.optimizer = optimizer, .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
  }
  void train_and_save() {
    model.fit(small_data(12).batch(4), {.verbose = Verbose::Silent});
    losses.push_back(model.evaluate(small_data(9).batch(4)).at("loss"));
    manager.save();
  }
};

struct Evaluating {
  nn::Sequential net = small_net();
  optim::SGD optimizer;  // another one than the trainer's: only its step count is read
  Model model{net};
  Evaluating() {
    model.compile(
        {.optimizer = optimizer, .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
  }
};

struct Notes : Callback {
  std::vector<double> losses;
  std::vector<int64_t> iterations;
  void on_test_end(Logs& logs) override {
    losses.push_back(logs.at("loss"));
    iterations.push_back(model().optimizer().iterations());
  }
};

}  // namespace

TEST_CASE("the evaluator follows a training's checkpoints to the last (117)",
          "[train][sidecar_evaluator]") {
  const TemporaryDirectory directory;
  Trainer trainer(directory / "ckpt");
  Evaluating side;
  Notes notes;
  SidecarEvaluator evaluator(side.model, small_data(9).batch(4),
                             {.checkpoint_dir = directory / "ckpt",
                              .max_evaluations = 4,
                              .callbacks = {notes, TensorBoard({.log_dir = directory / "logs"})},
                              .waiting = {.sleep = [&](double) { trainer.train_and_save(); }}});
  evaluator.start();
  CHECK(evaluator.evaluations() == 4);
  REQUIRE(notes.losses.size() == 4);
  for (size_t i = 0; i < 4; ++i) CHECK(notes.losses[i] == Approx(trainer.losses[i]));
  CHECK(notes.iterations == std::vector<int64_t>{3, 6, 9, 12});
  CHECK(evaluator.last_logs().at("loss") == notes.losses[3]);
  std::vector<int64_t> steps;
  for (const auto& file : fs::directory_iterator(directory / "logs/validation")) {
    auto reader = value_or_throw(io::RecordReader::open(file.path()));
    for (std::string record; value_or_throw(reader.next(record));) {
      const auto event = summary::decode_event(record, file.path());
      for (const auto& entry : event.entries)
        if (entry.tag == "evaluation_loss_vs_iterations") steps.push_back(event.step);
    }
  }
  CHECK(steps == notes.iterations);
}

TEST_CASE("while nothing comes the evaluator says so, and waits on (117)",
          "[train][sidecar_evaluator]") {
  const TemporaryDirectory directory;
  Trainer trainer(directory.path());
  Evaluating side;
  double now = 0;
  int hints = 0;
  char* text = nullptr;
  size_t size = 0;
  std::FILE* out = ::open_memstream(&text, &size);
  SidecarEvaluator evaluator(side.model, small_data(9).batch(4),
                             {.checkpoint_dir = directory.path(),
                              .max_evaluations = 1,
                              .out = out,
                              .waiting = {.timeout = 30,
                                          .timeout_fn =
                                              [&] {
                                                if (++hints == 2) trainer.train_and_save();
                                                return false;
                                              },
                                          .clock = [&] { return now; },
                                          .sleep = [&](double seconds) { now += seconds; }}});
  evaluator.start();
  CHECK(hints == 2);
  CHECK(now >= 60);
  std::fclose(out);
  CHECK_THAT(std::string(text, size), Contains("No checkpoints appear to be found after 30 s") &&
                                          Contains("End of evaluation of "));
  std::free(text);
}

TEST_CASE("a damaged checkpoint is told and passed over", "[train][sidecar_evaluator]") {
  const TemporaryDirectory directory;
  Trainer trainer(directory.path());
  trainer.train_and_save();
  fs::resize_file(directory / "ckpt-1.data-00000-of-00001", 10);
  Evaluating side;
  int looks = 0;
  SidecarEvaluator evaluator(
      side.model, small_data(9).batch(4),
      {.checkpoint_dir = directory.path(), .max_evaluations = 2, .waiting = {.sleep = [&](double) {
                                                                   if (++looks == 3)
                                                                     trainer.train_and_save();
                                                                 }}});
  evaluator.start();
  CHECK(looks == 3);
  CHECK(evaluator.evaluations() == 1);
}

TEST_CASE("checkpoints without the step count are refused (117)", "[train][sidecar_evaluator]") {
  const TemporaryDirectory directory;
  auto net = small_net();
  Checkpoint(net).save(directory / "ckpt");
  Evaluating side;
  SidecarEvaluator evaluator(side.model, small_data(9).batch(4),
                             {.checkpoint_dir = directory.path(), .max_evaluations = 1});
  CHECK_THROWS_SAYING(evaluator.start(), FailedPreconditionError, "iterations");
  CHECK_THROWS_AS(SidecarEvaluator(side.model, small_data(9).batch(4), {}), InvalidArgumentError);
}

TEST_CASE("the best evaluated model is exported (117)", "[train][sidecar_evaluator]") {
  const TemporaryDirectory directory;
  Trainer trainer(directory / "ckpt");
  Evaluating side;
  int saves = 0;
  SidecarEvaluator evaluator(
      side.model, small_data(9).batch(4),
      {.checkpoint_dir = directory / "ckpt",
       .max_evaluations = 3,
       .callbacks = {SidecarEvaluatorModelExport(
           {.export_filepath = directory / "best/{epoch}", .checkpoint_dir = directory / "ckpt"})},
       .waiting = {.sleep = [&](double) {
         if (++saves == 2) {  // a bad one between two good ones
           for (const Variable& v : trainer.net.variables()) v.assign(fill(v.shape(), 5.0f));
           trainer.optimizer.set_learning_rate(1e-6);
         }
         if (saves == 3) {
           const auto good = small_net();
           for (size_t i = 0; i < good.variables().size(); ++i)
             trainer.net.variables()[i].assign(good.variables()[i].value());
           trainer.optimizer.set_learning_rate(0.1);
         }
         trainer.train_and_save();
       }}});
  evaluator.start();
  CHECK(trainer.losses[1] > trainer.losses[0]);
  CHECK(fs::exists(directory / "best/1.index"));
  CHECK_FALSE(fs::exists(directory / "best/2.index"));
  CHECK(fs::exists(directory / "best/3.index") == (trainer.losses[2] < trainer.losses[0]));
}

TEST_CASE("checkpoints are given once, and waiting has an end", "[train][checkpoints_iterator]") {
  const TemporaryDirectory directory;
  Variable v = make_counter("v");
  Checkpoint checkpoint({{"v", v}});
  double now = 0;
  std::vector<double> sleeps;
  CheckpointsIterator iterator(directory.path(), {.min_interval_secs = 10,
                                                  .timeout = 3,
                                                  .clock = [&] { return now; },
                                                  .sleep =
                                                      [&](double seconds) {
                                                        sleeps.push_back(seconds);
                                                        now += seconds;
                                                      }});
  CHECK_FALSE(iterator.next());
  CHECK(sleeps == std::vector<double>{1, 1, 1});
  checkpoint.save(directory / "ckpt");
  checkpoint.save(directory / "ckpt");
  CHECK(iterator.next() == directory / "ckpt-2");
  sleeps.clear();
  checkpoint.save(directory / "ckpt");
  CHECK(iterator.next() == directory / "ckpt-3");
  CHECK(sleeps == std::vector<double>{10});
  CHECK_FALSE(iterator.next());
  CHECK(checkpoint_number("a/ckpt-12") == 12);
  CHECK_FALSE(checkpoint_number("a/ckpt"));
  CHECK_FALSE(checkpoint_number("a/ckpt-1x"));
}
