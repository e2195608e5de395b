// Numbers are Keras's: fit_expected.py prints them.
#include <distribute/nn/loss.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/train/backup_and_restore.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/small_fit.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>

using namespace distribute;
using nn::SparseCategoricalCrossentropy;
using train::Model;
using train::Verbose;

namespace {

struct Trainer {
  nn::Sequential net = small_net();
  optim::SGD optimizer{{.learning_rate = 0.3, .momentum = 0.9}};
  Model model{net};
  explicit Trainer(int64_t steps_per_execution = 1) {
    model.compile({.optimizer = optimizer,
                   .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {"accuracy"},
                   .weighted_metrics = {"accuracy"},
                   .steps_per_execution = steps_per_execution});
  }
};

train::ArrayData arrays(bool weighted = false) {
  const data::Batch all = *small_data(22).batch(22).iterator().get_next_as_optional();
  std::vector<float> weights(22);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = float(1 + i % 3);
  return {all.x, all.y, weighted ? Tensor(Shape{22}, weights) : Tensor()};
}

const train::ArrayOptions kInOrder{.batch_size = 8, .shuffle = false};

void check_history(const train::History& history, const std::string& name,
                   const std::vector<double>& wanted) {
  INFO(name);
  const std::vector<double>& got = history.history.at(name);
  REQUIRE(got.size() == wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i)
    CHECK(got[i] == Approx(wanted[i]).epsilon(2e-5).margin(1e-6));
}

}  // namespace

TEST_CASE("class_weight counts in the loss and in weighted metrics alone", "[train][fit_options]") {
  const int replicas = GENERATE(1, 3);
  MirroredStrategy strategy({.num_replicas = replicas});
  const auto scope = strategy.scope();
  Trainer trainer;
  const auto history = trainer.model.fit(
      small_data(22).batch(8),
      {.epochs = 3, .class_weight = {{0, 0.5f}, {2, 3.0f}}, .verbose = Verbose::Silent});
  check_history(history, "loss", {0.6472005, 0.1492654, 0.06191154});
  check_history(history, "accuracy", {0.7272727, 0.9545454, 0.9545454});
  check_history(history, "weighted_accuracy", {0.8059701, 0.9850746, 0.9850746});
}

TEST_CASE("class_weight takes the classes of columns and of one-hot rows", "[train][fit_options]") {
  std::vector<double> losses;
  for (const bool one_hot : {false, true}) {
    Trainer trainer;
    if (one_hot)
      trainer.model.compile({.optimizer = trainer.optimizer,
                             .loss = nn::CategoricalCrossentropy({.from_logits = true})});
    const auto data = small_data(22).batch(8).map([=](data::Batch batch) {
      if (!one_hot) {
        batch.y = expand_dims(batch.y, 1);
        return batch;
      }
      std::vector<float> rows(size_t(data::batch_size(batch)) * 3);
      for (size_t i = 0; i < rows.size() / 3; ++i)
        rows[i * 3 + size_t(batch.y.data<int64_t>()[i])] = 1;
      batch.y = Tensor(Shape{data::batch_size(batch), 3}, rows);
      return batch;
    });
    const auto history = trainer.model.fit(
        data, {.class_weight = {{0, 0.5f}, {2, 3.0f}}, .verbose = Verbose::Silent});
    check_history(history, "loss", {0.6472005});
  }
}

TEST_CASE("class_weight weighs the steps of a sequence", "[train][fit_options]") {
  const Tensor x({2, 3, 1}, std::vector<float>{1, 2, 3, -1, -2, 1});
  const Tensor y({2, 3}, std::vector<int32_t>{0, 1, 2, 1, 0, 2});
  const Tensor weights({2, 3}, std::vector<float>{1, 3, 1, 3, 1, 1});
  std::vector<float> kernels[2];
  for (const bool by_class : {false, true}) {
    nn::Sequential network(
        nn::Dense({.units = 3, .kernel_initializer = nn::initializers::constant(0.5)}));
    optim::SGD optimizer({.learning_rate = 0.1});
    train::Model model(network);
    model.compile(
        {.optimizer = optimizer, .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
    train::FitOptions options{.verbose = Verbose::Silent};
    if (by_class) options.class_weight = {{1, 3.0f}};
    model.fit(train::ArrayData{x, y, by_class ? Tensor() : weights}, options, kInOrder);
    kernels[by_class] = network.variables()[0].value().to_vector();
  }
  CHECK(kernels[0] == kernels[1]);
}

TEST_CASE("workers weigh their examples as one process does", "[train][fit_options]") {
  run_clean(2, 2, [&](Strategy& strategy, int) {
    const auto scope = strategy.scope();
    Trainer trainer(2);
    const auto history = trainer.model.fit(
        small_data(22).batch(8),
        {.epochs = 2, .class_weight = {{0, 0.5f}, {2, 3.0f}}, .verbose = Verbose::Silent});
    require(std::abs(history.history.at("loss")[1] - 0.1492654) < 1e-4, "Keras's loss");
    require(std::abs(history.history.at("weighted_accuracy")[1] - 0.9850746) < 1e-5,
            "Keras's accuracy");
  });
}

TEST_CASE("sample weights count in the loss and in weighted metrics alone",
          "[train][fit_options]") {
  Trainer trainer;
  const auto history =
      trainer.model.fit(arrays(true), {.epochs = 3, .verbose = Verbose::Silent}, kInOrder);
  check_history(history, "loss", {1.015913, 0.09781528, 0.0111554});
  check_history(history, "accuracy", {0.7727273, 1.0, 1.0});
  check_history(history, "weighted_accuracy", {0.8139535, 1.0, 1.0});
}

TEST_CASE("weights of single steps count in the mean over them", "[train][fit_options]") {
  Trainer trainer;
  const train::ArrayData all = arrays(true);
  const auto steps = data::Dataset::from_tensor_slices(
      reshape(all.x, {11, 2, 5}), reshape(all.y, {11, 2}), {reshape(all.sample_weight, {11, 2})});
  CHECK(trainer.model.evaluate(steps.batch(4)).at("loss") == Approx(1.503134).epsilon(2e-5));
}

TEST_CASE("arrays are evaluated and predicted as batches of their rows", "[train][fit_options]") {
  Trainer trainer;
  const train::ArrayData all = arrays(true);
  const auto batches = all.rows_as_dataset().batch(8);
  CHECK(trainer.model.evaluate(all, {}, 8) == trainer.model.evaluate(batches));
  CHECK(trainer.model.evaluate(all, {.steps = 2}, 8) == trainer.model.evaluate(batches.take(2)));
  CHECK(trainer.model.evaluate(train::ArrayData{all.x, all.y}) !=
        trainer.model.evaluate(all));  // the weights count
  const auto predicted = trainer.model.predict(all.x, {}, 8).to_vector();
  CHECK(predicted ==
        trainer.model.predict(data::Dataset::from_tensor_slices(all.x).batch(8)).to_vector());
  CHECK_THROWS_SAYING(trainer.model.predict(all.x, {}, 0), InvalidArgumentError, "0");
}

TEST_CASE("validation_split validates with the last examples", "[train][fit_options]") {
  Trainer trainer;
  train::ArrayOptions quarter = kInOrder;
  quarter.validation_split = 0.25;
  const auto history =
      trainer.model.fit(arrays(), {.epochs = 3, .verbose = Verbose::Silent}, quarter);
  check_history(history, "loss", {0.7227597, 0.2294856, 0.08366923});
  check_history(history, "val_loss", {0.2379014, 0.1831162, 0.2166812});
  check_history(history, "accuracy", {0.6875, 1.0, 1.0});
  check_history(history, "val_accuracy", {1.0, 1.0, 1.0});
}

TEST_CASE("with steps_per_execution callbacks see several steps as one", "[train][fit_options]") {
  std::string order;
  const auto note = [&](const char* what) {
    return [&order, what](int64_t n, train::Logs&) { order += what + std::to_string(n); };
  };
  Trainer trainer(2);
  train::LambdaCallback callback({.on_train_batch_begin = note(" B"),
                                  .on_train_batch_end = note("b"),
                                  .on_test_batch_begin = note(" T"),
                                  .on_test_batch_end = note("t")});
  const auto data = small_data(22).batch(8);
  const auto history =
      trainer.model.fit(data, {.epochs = 3, .callbacks = {callback}, .verbose = Verbose::Silent});
  CHECK(order == " B0b1 B2b2 B0b1 B2b2 B0b1 B2b2");
  check_history(history, "loss", {0.5905256, 0.124929, 0.03398093});
  check_history(history, "accuracy", {0.7727273, 1.0, 1.0});
  order.clear();
  trainer.model.evaluate(data, {.callbacks = {callback}});
  CHECK(trainer.model.predict(data).shape()[0] == 22);
  CHECK(order == " T0t1 T2t2");
  order.clear();
  trainer.model.fit(
      data.repeat(),
      {.epochs = 2, .steps_per_epoch = 3, .callbacks = {callback}, .verbose = Verbose::Silent});
  CHECK(order == " B0b1 B2b2 B0b1 B2b2");
  CHECK(trainer.optimizer.iterations() == 15);
}

TEST_CASE("backups count the steps of an execution", "[train][fit_options]") {
  const TemporaryDirectory directory;
  MirroredStrategy strategy({.num_replicas = 2});
  const auto scope = strategy.scope();
  Trainer trainer(2);
  train::BackupAndRestore backup({.backup_dir = directory / "backup", .save_freq = 3});
  trainer.model.fit(small_data(22).batch(8),
                    {.epochs = 2, .callbacks = {backup}, .verbose = Verbose::Silent});
  CHECK(backup.train_counter() == 6);
}

TEST_CASE("options that make no sense say why", "[train][fit_options]") {
  Trainer trainer;
  Model& model = trainer.model;
  const train::FitOptions silent{.verbose = Verbose::Silent};
  check_throws<InvalidArgumentError>([] { Trainer bad(0); }, "steps_per_execution");
  const auto split = [&](double part) { model.fit(arrays(), silent, {.validation_split = part}); };
  CHECK_THROWS_SAYING(split(1.0), InvalidArgumentError, "validation_split must lie in [0, 1)");
  CHECK_THROWS_SAYING(split(0.99), InvalidArgumentError, "Training data contains 22 samples");
  CHECK_THROWS_SAYING(
      model.fit(arrays(), silent, {.validation_split = 0.5, .validation_data = arrays()}),
      InvalidArgumentError, "given twice");
  CHECK_THROWS_SAYING(model.fit(arrays(), {.steps_per_epoch = 3}), InvalidArgumentError,
                      "arrays do not repeat");
  train::FitOptions weights{.class_weight = {{1, 2.0f}}, .verbose = Verbose::Silent};
  CHECK_THROWS_SAYING(model.fit(arrays(true), weights), InvalidArgumentError, "at the same time");
  weights.class_weight = {{0, 2.0f}, {int64_t{1} << 40, 3.0f}};
  CHECK_THROWS_SAYING(model.fit(arrays(), weights), InvalidArgumentError, "within 2^24");
  CHECK(trainer.optimizer.iterations() == 0);
}
