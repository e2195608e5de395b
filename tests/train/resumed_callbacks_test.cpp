/// A run that was interrupted and resumed ends as one that was not: weights, epochs, rates and the
/// files of all callbacks that keep something.

#include <distribute/optim/adam.hpp>
#include <distribute/train/backup_and_restore.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/exponential_moving_average.hpp>
#include <distribute/train/model_checkpoint.hpp>
#include <distribute/train/monitored_callbacks.hpp>
#include <distribute/train/tensor_board.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>
#include <tests/train/small_model.hpp>

using namespace distribute;
using train::Logs;
using train::Verbose;

namespace {

struct Interrupted {};

/// Where a run breaks off: in a batch of an epoch, or at the end of the training.
struct Break {
  int64_t epoch = -1, batch = -1;
  bool at_end = false;
};

/// Everything of a run that a user sees.
struct Outcome {
  std::vector<float> weights;
  std::vector<int64_t> epochs;
  std::vector<double> rates;
  std::string rows;
  std::set<std::string> best;
  double stopping_best = 0;
  int64_t best_epoch = 0, stopped_epoch = 0;
  bool operator==(const Outcome&) const = default;
};

/// One process of the job.
class Run {
 public:
  Run(const std::string& folder, train::SaveFrequency every, bool backup_first, bool append)
      : folder_(folder),
        backup_({.backup_dir = folder + "/backup", .save_freq = every}),
        csv_({.filename = folder + "/log.csv", .append = append}) {
    if (backup_first) callbacks_.emplace_back(backup_);
    callbacks_.emplace_back(train::LambdaCallback({.on_epoch_end = [](int64_t epoch, Logs& logs) {
      constexpr double kFigures[] = {5, 3, 4, 3.5, 2.9, 2, 2.5, 2.4, 2.3, 9, 9, 9};
      logs.set("val_loss", kFigures[epoch]);
    }}));
    callbacks_.emplace_back(reduce_);
    callbacks_.emplace_back(stopping_);
    callbacks_.emplace_back(best_);
    callbacks_.emplace_back(csv_);
    if (!backup_first) callbacks_.emplace_back(backup_);
  }

  void fit(Break at) {
    int64_t now = 0;
    callbacks_.emplace_back(
        train::LambdaCallback({.on_epoch_begin = [&](int64_t epoch, Logs&) { now = epoch; },
                               .on_train_batch_end =
                                   [&](int64_t batch, Logs&) {
                                     if (now == at.epoch && batch == at.batch) throw Interrupted();
                                   },
                               .on_train_end =
                                   [&](Logs&) {
                                     if (at.at_end) throw Interrupted();
                                   }}));
    const auto history =
        model_.fit(small_data(24).shuffle(24, {.seed = 3}).batch(6),
                   {.epochs = 12, .callbacks = callbacks_, .verbose = Verbose::Silent});
    outcome.epochs = history.epoch;
    if (!history.epoch.empty()) outcome.rates = history.history.at("learning_rate");
    outcome.weights = model_.module().variables()[0].value().to_vector();
    outcome.rows = file_text(folder_ + "/log.csv");
    outcome.best = names_in(folder_ + "/best");
    outcome.stopping_best = stopping_.best();
    outcome.best_epoch = stopping_.best_epoch();
    outcome.stopped_epoch = stopping_.stopped_epoch();
  }
  Outcome outcome;

 private:
  std::string folder_;
  train::BackupAndRestore backup_;
  SmallModel model_{{.learning_rate = 0.5, .momentum = 0.9f}};
  train::ReduceLROnPlateau reduce_{{.factor = 0.5, .patience = 2, .cooldown = 1}};
  train::EarlyStopping stopping_{{.patience = 3, .restore_best_weights = true}};
  train::ModelCheckpoint best_{{.filepath = folder_ + "/best/{epoch}", .save_best_only = true}};
  train::CSVLogger csv_;
  std::vector<train::CallbackHandle> callbacks_;
};

Outcome run(const std::string& folder, const std::vector<Break>& breaks,
            train::SaveFrequency every = "epoch", bool backup_first = true, bool append = false) {
  for (const Break& at : breaks)
    CHECK_THROWS_AS(Run(folder, every, backup_first, append).fit(at), Interrupted);
  Run last(folder, every, backup_first, append);
  last.fit({});
  return last.outcome;
}

}  // namespace

TEST_CASE("callbacks go on where an interruption left them (115)", "[train][resumed]") {
  const TemporaryDirectory directory;
  Outcome wanted = run(directory / "whole", {});
  REQUIRE(wanted.epochs.size() == 9);
  REQUIRE(wanted.stopped_epoch == 8);
  REQUIRE(wanted.best_epoch == 5);
  const bool backup_first = GENERATE(true, false), append = GENERATE(true, false);
  const bool by_batches = GENERATE(true, false);
  const auto breaks =
      GENERATE(std::vector<Break>{{4, 2}}, std::vector<Break>{{0, 1}, {8, 3}},
               std::vector<Break>{{6, 0}, {7, 3}, {8, 0}}, std::vector<Break>{{.at_end = true}});
  Outcome resumed = run(directory / "resumed", breaks,
                        by_batches ? train::SaveFrequency(3) : train::SaveFrequency("epoch"),
                        backup_first, append);
  // A History begins with its process, as Keras's does.
  CHECK(std::equal(resumed.epochs.rbegin(), resumed.epochs.rend(), wanted.epochs.rbegin()));
  CHECK(std::equal(resumed.rates.rbegin(), resumed.rates.rend(), wanted.rates.rbegin()));
  resumed.epochs = wanted.epochs;
  resumed.rates = wanted.rates;
  CHECK(resumed.rows == wanted.rows);
  CHECK(resumed.best == wanted.best);
  CHECK(resumed == wanted);
}

TEST_CASE("more patience after an interruption trains on", "[train][resumed]") {
  const TemporaryDirectory directory;
  const auto fit = [&](int64_t patience, bool breaks) {
    SmallModel model;
    train::LambdaCallback end({.on_train_end = [&](Logs&) {
      if (breaks) throw Interrupted();
    }});
    train::LambdaCallback worse(
        {.on_epoch_end = [](int64_t epoch, Logs& logs) { logs.set("val_loss", double(epoch)); }});
    return model
        .fit(small_data(8).batch(4),
             {.epochs = 8,
              .callbacks = {worse, train::EarlyStopping({.patience = patience}), end,
                            train::BackupAndRestore({.backup_dir = directory / "backup"})},
              .verbose = Verbose::Silent})
        .epoch;
  };
  CHECK_THROWS_AS(fit(2, true), Interrupted);
  CHECK(fit(4, false) == std::vector<int64_t>{3, 4});
}

TEST_CASE("averages that are exchanged when a backup is made are found again", "[train][resumed]") {
  const TemporaryDirectory directory;
  const bool of_optimizer = GENERATE(true, false), swap_on_epoch = GENERATE(true, false);
  const auto fit = [&](const std::string& name, int64_t break_in) {
    SmallModel model({.learning_rate = 0.3, .use_ema = of_optimizer, .ema_momentum = 0.8});
    train::ExponentialMovingAverage ema({.decay = 0.8});
    auto swap = of_optimizer ? train::SwapEMAWeights(swap_on_epoch)
                             : train::SwapEMAWeights(ema, swap_on_epoch);
    int64_t now = 0;
    train::LambdaCallback breaker({.on_epoch_begin = [&](int64_t epoch, Logs&) { now = epoch; },
                                   .on_train_batch_end =
                                       [&](int64_t batch, Logs&) {
                                         if (now == break_in && batch == 1) throw Interrupted();
                                       }});
    const auto history = model.fit(
        small_data(24).batch(6),
        {.epochs = 4,
         .validation_data = small_data(10).batch(5),
         .callbacks = {train::BackupAndRestore({.backup_dir = directory / name}), swap, breaker},
         .verbose = Verbose::Silent});
    auto result = model.module().variables()[0].value().to_vector();
    result.push_back(float(history.history.at("val_loss").back()));
    return result;
  };
  const auto wanted = fit("a", -1);
  CHECK_THROWS_AS(fit("b", 2), Interrupted);
  CHECK(fit("b", -1) == wanted);
}

TEST_CASE("several workers resume their callbacks alike (115)", "[train][resumed]") {
  const TemporaryDirectory directory;
  const auto fit = [&](const std::string& name, bool breaks, std::vector<std::string>& results) {
    run_clean(3, 1, [&](Strategy& strategy, int worker) {
      const auto scope = strategy.scope();
      SmallModel model({.learning_rate = 0.5});
      train::EarlyStopping stopping({.patience = 2, .restore_best_weights = true});
      int64_t now = 0;
      train::LambdaCallback watch(
          {.on_epoch_begin = [&](int64_t epoch, Logs&) { now = epoch; },
           .on_epoch_end = [](int64_t epoch,
                              Logs& logs) { logs.set("val_loss", std::abs(double(epoch) - 2)); },
           .on_train_batch_end =
               [&](int64_t batch, Logs&) {
                 if (breaks && now == 4 && batch == 1) throw Interrupted();
               }});
      try {
        model.fit(
            small_data(24).batch(6),
            {.epochs = 9,
             .callbacks = {train::BackupAndRestore({.backup_dir = directory / name}), watch,
                           stopping, train::CSVLogger({.filename = directory / name + ".csv"})},
             .verbose = Verbose::Silent});
      } catch (const Interrupted&) {
        return;
      }
      std::string text = str_cat(stopping.stopped_epoch(), " ", stopping.best_epoch());
      for (const float value : model.module().variables()[0].value().to_vector())
        text += str_cat(" ", value);
      results[size_t(worker)] = text;
    });
  };
  std::vector<std::string> wanted(3), resumed(3);
  fit("a", false, wanted);
  fit("b", true, resumed);
  fit("b", false, resumed);
  CHECK(wanted[0].starts_with("4 2 "));
  CHECK(wanted == resumed);
  CHECK(file_text(directory / "a.csv") == file_text(directory / "b.csv"));
}

TEST_CASE("a CSV file that is gone or shorter begins anew", "[train][resumed]") {
  const TemporaryDirectory directory;
  const auto fit = [&](int64_t break_in) {
    SmallModel model;
    train::LambdaCallback breaker({.on_epoch_begin = [&](int64_t epoch, Logs&) {
      if (epoch == break_in) throw Interrupted();
    }});
    model.fit(small_data(8).batch(4),
              {.epochs = 3,
               .callbacks = {train::BackupAndRestore({.backup_dir = directory / "backup"}),
                             train::CSVLogger({.filename = directory / "log.csv"}), breaker},
               .verbose = Verbose::Silent});
  };
  CHECK_THROWS_AS(fit(2), Interrupted);
  CHECK(file_lines(directory / "log.csv").size() == 3);
  std::filesystem::remove(directory / "log.csv");
  fit(-1);
  const auto lines = file_lines(directory / "log.csv");
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "epoch,accuracy,loss,val_accuracy,val_loss\r");
  CHECK(lines[1].starts_with("2,"));
}

TEST_CASE("a state of one's own is saved, too", "[train][resumed]") {
  class Counter : public train::Callback {
   public:
    explicit Counter(int64_t break_at) : break_at_(break_at) {}
    void on_train_begin(Logs&) override { count = 0; }
    void on_train_batch_end(int64_t, Logs&) override {
      if (++count == break_at_) throw Interrupted();
    }
    train::CheckpointParts state() override {
      return {{"counter",
               train::TensorState{[this] { return Tensor(count); },
                                  [this](const Tensor& saved) { count = saved.item<int64_t>(); }}}};
    }
    int64_t count = 0;

   private:
    int64_t break_at_;
  };
  const TemporaryDirectory directory;
  const auto fit = [&](int64_t break_at) {
    SmallModel model;
    Counter one(break_at), other(-1);
    model.fit(
        small_data(12).batch(4),
        {.epochs = 4,
         .callbacks = {train::BackupAndRestore({.backup_dir = directory / "backup"}), one, other},
         .verbose = Verbose::Silent});
    CHECK(one.count == other.count);
    return one.count;
  };
  CHECK_THROWS_AS(fit(8), Interrupted);
  CHECK(fit(-1) == 12);
}

TEST_CASE("numbers of steps and epochs are checked before the first step", "[train][resumed]") {
  SmallModel model;
  bool began = false;
  train::LambdaCallback watch({.on_train_begin = [&](Logs&) { began = true; }});
  const auto data = small_data(8).batch(4);
  const auto fit = [&](train::FitOptions options) {
    options.callbacks = {watch};
    options.verbose = Verbose::Silent;
    return model.fit(data, options);
  };
  CHECK_THROWS_SAYING(fit({.validation_data = data, .validation_steps = 0}), InvalidArgumentError,
                      "validation_steps must be at least 1; it is 0");
  CHECK_THROWS_SAYING(fit({.epochs = -1}), InvalidArgumentError, "-1");
  CHECK_THROWS_SAYING(fit({.initial_epoch = -2}), InvalidArgumentError, "-2");
  CHECK_THROWS_SAYING(model.evaluate(data, {.steps = 0}), InvalidArgumentError, "evaluate: steps");
  CHECK_THROWS_SAYING(model.predict(data, {.steps = -3}), InvalidArgumentError, "predict: steps");
  CHECK_THROWS_SAYING(fit({.validation_data = data, .validation_freq = {2, 0}}),
                      InvalidArgumentError, "epochs count from 1");
  CHECK_FALSE(began);
  CHECK(fit({.epochs = 0}).epoch.empty());
}
