#include <distribute/distribute.hpp>
#include <distribute/estimator.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include <tests/support/catch.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

namespace dist = distribute;
namespace nn = distribute::nn;
namespace train = distribute::train;

// docs/fit.md, estimator.md and performance.md show the regions between the marks; the last test
// compares.

// [fit]
int fit_program() {
  dist::MultiWorkerMirroredStrategy strategy;  // one process, or the workers of TF_CONFIG
  const auto scope = strategy.scope();
  nn::Sequential network(nn::Flatten(), nn::Dense({.units = 64, .activation = nn::relu}),
                         nn::Dense({.units = 10}));
  dist::optim::SGD optimizer({.learning_rate = 0.05f, .momentum = 0.9f});
  train::Model model(network);
  model.compile({.optimizer = optimizer,
                 .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});

  const std::string digits = "examples/mnist_cnn/data";
  const auto images = dist::data::load_mnist(digits).shuffle(9'000, {.seed = 1}).batch(100);
  const auto test = dist::data::load_mnist(digits, {.split = dist::data::Split::Test}).batch(500);
  const auto history = model.fit(
      images,
      {.epochs = 4,
       .validation_data = test,
       .callbacks = {
           train::BackupAndRestore({.backup_dir = "backup"}),
           train::ModelCheckpoint({.filepath = "ckpt/{epoch:02d}", .save_best_only = true}),
           train::TensorBoard({.log_dir = "logs"}), train::EarlyStopping({.patience = 2})}});
  std::printf("best accuracy %.3f\n", *std::max_element(history.history.at("val_accuracy").begin(),
                                                        history.history.at("val_accuracy").end()));
  return 0;
}
// [fit]

// [function]
int function_program() {
  dist::MirroredStrategy strategy;
  const auto scope = strategy.scope();
  nn::Sequential model(nn::Flatten(), nn::Dense({.units = 64, .activation = nn::relu}),
                       nn::Dense({.units = 10}));
  dist::optim::Adam optimizer({.learning_rate = 0.001f});
  const auto train = strategy.experimental_distribute_dataset(
      dist::data::load_mnist("examples/mnist_cnn/data").shuffle(9'000).repeat().batch(50));

  const auto train_step = dist::function([&](const dist::data::Batch& batch) {  // the one line
    dist::GradientTape tape;
    const auto losses = nn::sparse_categorical_crossentropy(
        batch.y, model(batch.x, {.training = true}), {.from_logits = true});
    const auto loss = nn::compute_average_loss(losses, 50);
    optimizer.minimize(loss, model.trainable_variables(), tape);
    return loss;
  });
  auto batches = train.iterator();
  for (int step = 0; step < 100; ++step) {
    const auto losses = strategy.run(train_step, batches.get_next());
    if (step % 50 == 0) std::printf("loss %.4f\n", losses[0].item<float>());
  }
  return optimizer.iterations() == 100 ? 0 : 1;
}
// [function]

// [session]
int session_program() {
  dist::MultiWorkerMirroredStrategy strategy;
  const auto scope = strategy.scope();
  nn::Sequential network(nn::Flatten(), nn::Dense({.units = 10}));
  dist::optim::SGD optimizer({.learning_rate = 0.1f});
  train::Model model(network);
  model.compile(
      {.optimizer = optimizer, .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
  auto batches = model.distribute(
      dist::data::load_mnist("examples/mnist_cnn/data").shuffle(9'000).repeat().batch(50));
  model.build(batches.element_spec());

  auto iterator = batches.iterator();
  train::MonitoredTrainingSession session(
      {.checkpoint_dir = "session",
       .parts = {{"model", &network},
                 {"optimizer", &optimizer},
                 {"iterator", train::state_of(iterator)}},
       .global_step = optimizer.iterations_variable(),
       .hooks = {train::StopAtStepHook({.last_step = 100}), train::NanTensorHook()},
       .chief_only_hooks = {train::LoggingTensorHook({.every = {.steps = 50}})},
       .save_checkpoint = {.steps = 40}});
  while (!session.should_stop())
    session.run([&] { return model.train_on_batch(iterator.get_next()); });
  session.close();
  return 0;
}
// [session]

// [estimator]
int estimator_program() {
  nn::Sequential network(nn::Flatten(), nn::Dense({.units = 10}));
  dist::optim::SGD optimizer({.learning_rate = 0.1f});
  train::Model model(network);
  model.compile(
      {.optimizer = optimizer, .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
  train::Estimator estimator(model, {.model_dir = "digits", .save_checkpoints = {.steps = 50}});

  const std::string digits = "examples/mnist_cnn/data";
  const auto images = [&] {
    return train::InputData(dist::data::load_mnist(digits).shuffle(9'000).repeat().batch(50));
  };
  const auto test = [&] {
    return train::InputData(
        dist::data::load_mnist(digits, {.split = dist::data::Split::Test}).batch(500));
  };
  estimator.train(images, {.max_steps = 100, .hooks = {train::NanTensorHook()}});
  const train::Logs figures = estimator.evaluate(test, {.steps = 1, .name = "test"});
  std::printf("loss %.3f at step %.0f\n", figures.at("loss"), figures.at("global_step"));
  const dist::Tensor logits = estimator.predict(test);  // [examples, 10]
  const std::string path = estimator.export_saved_model("digits/models");
  return logits.shape()[0] == 1'000 && path.starts_with("digits/models/") ? 0 : 1;
}
// [estimator]

namespace {

/// Runs a program in a fresh directory that has the digits.
void run_in(const TemporaryDirectory& directory, int (*program)()) {
  const auto before = std::filesystem::current_path();
  std::filesystem::create_directory_symlink(distribute::testing::source_dir() + "/examples",
                                            directory / "examples");
  std::filesystem::current_path(directory.path());
  CHECK(program() == 0);
  std::filesystem::current_path(before);
}

}  // namespace

TEST_CASE("the page's fit learns the digits and leaves its files", "[docs][training_page]") {
  const TemporaryDirectory directory;
  run_in(directory, &fit_program);
  CHECK(train::latest_checkpoint(directory / "ckpt"));
  CHECK(std::filesystem::exists(directory / "logs/train"));
  CHECK(std::filesystem::exists(directory / "logs/validation"));
  CHECK_FALSE(std::filesystem::exists(directory / "backup/chief"));
}

TEST_CASE("the page's function counts its steps", "[docs][training_page]") {
  const TemporaryDirectory directory;
  run_in(directory, &function_program);
}

TEST_CASE("the page's session stops at its step and saves", "[docs][training_page]") {
  const TemporaryDirectory directory;
  run_in(directory, &session_program);
  CHECK(train::latest_checkpoint(directory / "session") == directory / "session/model.ckpt-100");
}

TEST_CASE("the page's estimator trains, evaluates, predicts and exports", "[docs][training_page]") {
  const TemporaryDirectory directory;
  run_in(directory, &estimator_program);
  CHECK(train::latest_checkpoint(directory / "digits") == directory / "digits/model.ckpt-100");
  CHECK(std::filesystem::exists(directory / "digits/eval_test"));
}

TEST_CASE("the page shows the programs that are tested", "[docs][training_page]") {
  const std::string root = distribute::testing::source_dir();
  const std::map<std::string, std::string> pages = {{"fit", "fit"},
                                                    {"function", "performance"},
                                                    {"session", "estimator"},
                                                    {"estimator", "estimator"}};
  for (const auto& [name, page] : pages) {
    const std::string mark = "// [" + name + "]";
    const std::string tested =
        lines_between(root + "/tests/docs/training_page_test.cpp", mark, mark);
    CHECK(!tested.empty());
    CHECK(lines_between(root + "/docs/" + page + ".md", "<!-- " + name + " -->", "```") ==
          "```cpp\n" + tested);
  }
}
