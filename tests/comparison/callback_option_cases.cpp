/// Options of callbacks, as callback_option_cases.py prints them.
#include "option_cases.hpp"

#include <distribute/nn/dense.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/train/backup_and_restore.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/model_checkpoint.hpp>
#include <distribute/train/monitored_callbacks.hpp>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <limits>
#include <set>

namespace comparison {

namespace {

namespace fs = std::filesystem;
namespace optim = dist::optim;
namespace train = dist::train;
using Values = std::vector<double>;

template <typename Function>
void check(const std::string& name, Function function) {
  run_case("options of callbacks/" + name, function);
}

std::string figure(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}
std::string numbers(const Values& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : " ") + figure("%.7g", value);
  return text;
}

const double kNan = std::numeric_limits<double>::quiet_NaN();
const Values& sequence(const std::string& name) {
  static const std::map<std::string, Values> all{
      {"falling", {5, 4, 4.5, 3, 3.5, 3.25, 3.125, 2, 9, 8}},
      {"rising", {-5, -4, -4.5, -3, -3.5, -3.25, -3.125, -2, -9, -8}},
      {"holes", {kNan, 5, kNan, 4, 4, 4, 3}},
      {"steady", {1, 1, 1, 1, 1, 1, 1, 1}},
      {"three epochs", {1, 1, 1}}};
  return all.at(name);
}

/// A line through 0 without a bias.
struct Line {
  explicit Line(double rate = 1) : optimizer({.learning_rate = rate}), model(dense) {
    model.compile({.optimizer = optimizer, .loss = "mse"});
  }
  /// Two batches an epoch, with these figures in the logs before `callback` sees them.
  train::History fit(const Values& values, const train::CallbackHandle& callback) {
    train::LambdaCallback figures({.on_epoch_end = [&](int64_t epoch, train::Logs& logs) {
      logs.set("val_loss", values.at(size_t(epoch)));
      dense.kernel().assign(dist::ones({1, 1}) * float(epoch + 1));
    }});
    return model.fit({dist::ones({4, 1}), dist::zeros({4, 1})},
                     {.epochs = int64_t(values.size()),
                      .callbacks = {figures, callback},
                      .verbose = train::Verbose::Silent},
                     {.batch_size = 2, .shuffle = false});
  }

  nn::Dense dense{nn::DenseOptions{.units = 1, .use_bias = false}};
  optim::SGD optimizer;
  train::Model model;
};

void stopping(const std::string& name, const std::string& text,
              const train::EarlyStoppingOptions& options) {
  check("stopping " + name + " " + text, [&] {
    train::EarlyStopping stop(options);
    Line line;
    const auto history = line.fit(sequence(name), stop);
    return str_cat(history.epoch.size(), " epochs, stopped ", stop.stopped_epoch(), ", best ",
                   figure("%g", stop.best()), " in ", stop.best_epoch(), ", ",
                   figure("%.7g", double(line.dense.kernel().value().to_vector()[0])));
  });
}

void stopping_option_cases() {
  using Mode = train::MonitorMode;
  for (int patience : {0, 1, 2, 3})
    for (int start : {0, 2, 5})
      for (bool restore : {false, true})
        for (const char* name : {"falling", "steady", "holes"})
          stopping(
              name,
              str_cat("patience ", patience, " start_from_epoch ", start, " restore_best_weights ",
                      text(restore)),
              {.patience = patience, .restore_best_weights = restore, .start_from_epoch = start});
  for (int patience : {1, 3})
    for (double delta : {0.25, 0.5, -0.5, 1.0}) {
      const std::string both = str_cat("patience ", patience, " min_delta ", python(delta));
      stopping("falling", both, {.min_delta = delta, .patience = patience});
      stopping("rising", both + " mode max",
               {.min_delta = delta, .patience = patience, .mode = Mode::Max});
    }
  for (int patience : {1, 3})
    for (double baseline : {10.0, 3.5, 1.0})
      for (bool restore : {false, true}) {
        stopping("falling",
                 str_cat("patience ", patience, " baseline ", python(baseline),
                         " restore_best_weights ", text(restore)),
                 {.patience = patience, .baseline = baseline, .restore_best_weights = restore});
        stopping("rising",
                 str_cat("patience ", patience, " baseline ", python(-baseline),
                         " mode max restore_best_weights ", text(restore)),
                 {.patience = patience,
                  .mode = Mode::Max,
                  .baseline = -baseline,
                  .restore_best_weights = restore});
      }
  for (double baseline : {3.5, 1.0})
    stopping(
        "falling",
        str_cat("patience 2 baseline ", python(baseline),
                " start_from_epoch 2 restore_best_weights True"),
        {.patience = 2, .baseline = baseline, .restore_best_weights = true, .start_from_epoch = 2});
  stopping("falling", "patience 2 start_from_epoch 20 restore_best_weights True",
           {.patience = 2, .restore_best_weights = true, .start_from_epoch = 20});
  stopping("rising", "patience 2 mode min", {.patience = 2, .mode = Mode::Min});
  stopping("falling", "patience 2 mode max restore_best_weights True",
           {.patience = 2, .mode = Mode::Max, .restore_best_weights = true});
  stopping("falling", "patience -1", {.patience = -1});
}

std::string rates_of(const Values& values, const train::CallbackHandle& callback) {
  return numbers(Line().fit(values, callback).history.at("learning_rate"));
}

void plateau(const std::string& name, const std::string& text,
             const train::ReduceLROnPlateauOptions& options) {
  check("plateau " + name + " " + text,
        [&] { return rates_of(sequence(name), train::ReduceLROnPlateau(options)); });
}

void plateau_option_cases() {
  using Mode = train::MonitorMode;
  for (int patience : {0, 1, 2, 3})
    for (int cooldown : {0, 1, 2})
      for (const char* name : {"falling", "steady", "holes"})
        plateau(name, str_cat("patience ", patience, " cooldown ", cooldown, " factor 0.5"),
                {.factor = 0.5, .patience = patience, .cooldown = cooldown});
  for (double delta : {0.0, 0.25, 1.0})
    for (double least : {0.0, 0.3, 2.0}) {
      const std::string text =
          str_cat("patience 1 min_delta ", python(delta), " min_lr ", python(least), " factor 0.5");
      plateau("falling", text, {.factor = 0.5, .patience = 1, .min_delta = delta, .min_lr = least});
      plateau(
          "rising", text + " mode max",
          {.factor = 0.5, .patience = 1, .mode = Mode::Max, .min_delta = delta, .min_lr = least});
    }
  for (double factor : {0.0, 0.9, 1.0, 1.5, -0.5})
    plateau("steady", "patience 1 factor " + python(factor), {.factor = factor, .patience = 1});
  plateau("rising", "patience 1 mode min", {.patience = 1, .mode = Mode::Min});
  plateau("steady", "patience 0 factor 0.1", {.factor = 0.1, .patience = 0});
  plateau("steady", "patience 1 min_lr -1.0", {.patience = 1, .min_lr = -1});
  plateau("steady", "patience 1 cooldown -1", {.patience = 1, .cooldown = -1});
  const Values four(4, 1);
  const auto rates = [&](const char* name, auto schedule) {
    check(str_cat("rates ", name),
          [&] { return rates_of(four, train::LearningRateScheduler(schedule, false)); });
  };
  rates("of the epoch", [](int64_t epoch) { return 1.0 / double(epoch + 1); });
  rates("of both", [](int64_t, double rate) { return rate * 0.5; });
  rates("0", [](int64_t) { return 0.0; });
  rates("negative", [](int64_t) { return -1.0; });
}

void files(const std::string& name, const std::string& text,
           train::ModelCheckpointOptions options) {
  const fs::path folder = fs::temp_directory_path() / str_cat("callback_cases-", ::getpid());
  check("files " + name + " " + text, [&] {
    fs::create_directory(folder);
    options.filepath = folder / (options.save_freq.every_epoch() ? "{epoch}" : "{epoch}-{batch}");
    options.save_weights_only = true;
    Line().fit(sequence(name), train::ModelCheckpoint(options));
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".index") names.insert(entry.path().stem());
    std::string found;
    for (const std::string& one : names) found += (found.empty() ? "" : " ") + one;
    return found;
  });
  fs::remove_all(folder);
}

void file_option_cases() {
  using Mode = train::MonitorMode;
  for (const char* name : {"falling", "holes", "steady"}) {
    files(name, "", {});
    files(name, "save_best_only True", {.save_best_only = true});
    for (double threshold : {10.0, 3.5, 1.0})
      files(name, "save_best_only True initial_value_threshold " + python(threshold),
            {.save_best_only = true, .initial_value_threshold = threshold});
  }
  files("rising", "save_best_only True mode max", {.save_best_only = true, .mode = Mode::Max});
  files("rising", "save_best_only True mode max initial_value_threshold -3.5",
        {.save_best_only = true, .mode = Mode::Max, .initial_value_threshold = -3.5});
  files("rising", "save_best_only True mode min", {.save_best_only = true, .mode = Mode::Min});
  files("falling", "initial_value_threshold 1.0", {.initial_value_threshold = 1.0});
  for (int every : {1, 2, 3, 5, 100})
    files("three epochs", str_cat("save_freq ", every), {.save_freq = every});
}

void nan_cases() {
  for (bool raises : {false, true})
    check("nan raise_error " + text(raises), [&] {
      Line line;
      const auto history =
          line.model.fit({dist::ones({4, 1}) * float(kNan), dist::zeros({4, 1})},
                         {.epochs = 3,
                          .callbacks = {train::TerminateOnNaN({.raise_error = raises})},
                          .verbose = train::Verbose::Silent},
                         {.batch_size = 1});
      return str_cat(history.epoch.size(), " epochs");
    });
}

}  // namespace

void callback_option_cases() {
  stopping_option_cases();
  plateau_option_cases();
  file_option_cases();
  nan_cases();
}

}  // namespace comparison
