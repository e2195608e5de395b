/// Cases of fit, evaluate, predict, their callbacks and averages, as fit_cases.py prints them.
#include "cases.hpp"

#include <distribute/nn/activation.hpp>
#include <distribute/nn/confusion_metrics.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/mean_metrics.hpp>
#include <distribute/nn/models.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/optim/adagrad.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/lamb.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/one_device_strategy.hpp>
#include <distribute/strategy/strategy.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/exponential_moving_average.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/model_checkpoint.hpp>
#include <distribute/train/monitored_callbacks.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <set>

namespace comparison {

namespace {

namespace nn = dist::nn;
namespace optim = dist::optim;
namespace train = dist::train;
namespace fs = std::filesystem;
using dist::str_cat;
using train::Logs;
using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>()>;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", value);
  return text;
}

std::string numbers(const std::vector<double>& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "" : " ") + number(value);
  return text;
}

std::string figures(const Logs& logs) {
  std::string text;
  for (const auto& [name, value] : logs)
    text += (text.empty() ? "" : " ") + name + " " + number(value);
  return text;
}

Tensor inputs(int64_t rows) {
  std::vector<float> values(static_cast<size_t>(rows));
  for (size_t i = 0; i < values.size(); ++i) values[i] = float(i + 1) / 10;
  return Tensor({rows, 1}, values);
}
Tensor targets(int64_t rows) { return inputs(rows) * 2.0f + 1.0f; }

dist::data::Dataset batches(int64_t size, int64_t rows = 10) {
  return dist::data::Dataset::from_tensor_slices(inputs(rows), targets(rows)).batch(size);
}
dist::data::Dataset weighted(int64_t size) {
  const Tensor weights({8}, std::vector<float>{1, 2, 1, 2, 1, 2, 1, 2});
  return dist::data::Dataset::from_tensor_slices(inputs(8), targets(8), {weights}).batch(size);
}

template <typename Optimizer, typename Options>
MakeOptimizer making(const Options& options) {
  return [options] { return std::make_unique<Optimizer>(options); };
}
MakeOptimizer sgd(optim::SGDOptions options = {.learning_rate = 0.1}) {
  return making<optim::SGD>(options);
}
MakeOptimizer ema(optim::SGDOptions options = {.learning_rate = 0.1}) {
  options.use_ema = true;
  options.ema_momentum = 0.5;
  return sgd(options);
}

using Metrics = std::vector<train::CompiledMetric>;

struct LineOptions {
  MakeOptimizer optimizer = sgd();
  /// Called in the strategy's scope, where their variables belong.
  std::function<Metrics()> metrics = [] { return Metrics{"mae"}; };
  nn::Regularizer regularizer = {};
  int64_t steps_per_execution = 1, accumulation = 1;
};

/// A training of one weight that begins with 1.
struct Line {
  explicit Line(dist::Strategy& with, const LineOptions& options = {})
      : strategy(with),
        scope(strategy),
        net(nn::Dense({.units = 1,
                       .use_bias = false,
                       .kernel_initializer = nn::initializers::ones(),
                       .kernel_regularizer = options.regularizer})),
        optimizer(options.optimizer()),
        model(net) {
    model.compile({.optimizer = *optimizer,
                   .loss = "mse",
                   .metrics = options.metrics(),
                   .gradient_accumulation_steps = options.accumulation,
                   .steps_per_execution = options.steps_per_execution});
  }
  train::History fit(const dist::data::Dataset& data, train::FitOptions options) {
    options.verbose = train::Verbose::Silent;
    return model.fit(data, options);
  }
  train::History fit(const train::FitOptions& options = {}) { return fit(batches(4, 8), options); }
  std::string weight() const {
    return number(net.trainable_variables().at(0).value().item<float>());
  }
  std::string steps_and_weight() const {
    return str_cat(model.optimizer().iterations(), " ", weight());
  }

  dist::Strategy& strategy;
  dist::ScopeUnlessCurrent scope;
  nn::Sequential net;
  std::unique_ptr<optim::Optimizer> optimizer;
  train::Model model;
};

Logs at(const train::History& history, size_t epoch, const std::vector<std::string>& order) {
  Logs logs;
  for (const std::string& name : order) logs.set(name, history.history.at(name).at(epoch));
  return logs;
}

class Events : public train::Callback {
 public:
  explicit Events(bool with_logs = false) : with_logs_(with_logs) {}
  std::string text;

  void on_train_begin(Logs& l) override { note("TB", l); }
  void on_train_end(Logs& l) override { note("TE", l); }
  void on_epoch_begin(int64_t i, Logs& l) override { note(str_cat("eb", i), l); }
  void on_epoch_end(int64_t i, Logs& l) override { note(str_cat("ee", i), l); }
  void on_train_batch_begin(int64_t i, Logs& l) override { note(str_cat("b", i), l); }
  void on_train_batch_end(int64_t i, Logs& l) override { note(str_cat("d", i), l); }
  void on_test_begin(Logs& l) override { note("VB", l); }
  void on_test_end(Logs& l) override { note("VE", l); }
  void on_test_batch_begin(int64_t i, Logs& l) override { note(str_cat("vb", i), l); }
  void on_test_batch_end(int64_t i, Logs& l) override { note(str_cat("vd", i), l); }
  void on_predict_begin(Logs& l) override { note("PB", l); }
  void on_predict_end(Logs& l) override { note("PE", l); }
  void on_predict_batch_begin(int64_t i, Logs& l) override { note(str_cat("pb", i), l); }
  void on_predict_batch_end(int64_t i, Logs& l) override { note(str_cat("pd", i), l); }

 private:
  void note(const std::string& name, const Logs& logs) {
    text += (text.empty() ? "" : " ") + name;
    if (with_logs_ && !logs.empty()) text += "(" + figures(logs) + ")";
  }
  bool with_logs_;
};

/// Stops in the first batch of an epoch.
class Stop : public train::Callback {
 public:
  explicit Stop(int64_t epoch = 0) : epoch_(epoch) {}
  void on_epoch_begin(int64_t epoch, Logs&) override { now_ = epoch; }
  void on_train_batch_end(int64_t, Logs&) override {
    if (now_ == epoch_) model().stop_training();
  }

 private:
  int64_t epoch_, now_ = 0;
};

/// Gives the logs of each epoch one of these figures.
train::LambdaCallback figure(const std::string& name, const std::vector<double>& values) {
  return train::LambdaCallback({.on_epoch_end = [=](int64_t epoch, Logs& logs) {
    logs.set(name, values.at(size_t(epoch)));
  }});
}

using Strategies = std::pair<dist::Strategy&, dist::Strategy&>;  // two replicas, one device

void event_cases(const Strategies& on) {
  const auto events = [&](const std::string& name, const dist::data::Dataset& data,
                          train::FitOptions options = {}, bool with_logs = false,
                          bool one_device = false, int64_t execution = 1) {
    run_case("fit/events of " + name, [&] {
      Line line(one_device ? on.second : on.first, {.steps_per_execution = execution});
      Events note(with_logs);
      options.callbacks.emplace_back(note);
      line.fit(data, options);
      return note.text;
    });
  };
  events("two epochs with validation", batches(4), {.epochs = 2, .validation_data = batches(4, 6)});
  events("logs", batches(4, 8), {}, true);
  events("logs on one device", batches(4), {}, true, true);
  events("data that run out", batches(4, 8), {.steps_per_epoch = 5});
  events("a stop in a batch", batches(2),
         {.epochs = 3, .validation_data = batches(4, 4), .callbacks = {Stop()}});
  events("later epochs", batches(4, 8), {.epochs = 4, .initial_epoch = 2});
  events("validation_steps", batches(4, 8),
         {.validation_data = batches(2, 8), .validation_steps = 2});
  events("steps_per_execution 2 of 3", batches(4), {}, false, false, 2);
  run_case("fit/events of predict", [&] {
    Events note;
    Line(on.first).model.predict(batches(4), {.callbacks = {note}});
    return note.text;
  });
  run_case("fit/events of evaluate with steps", [&] {
    Events note;
    Line(on.first).model.evaluate(batches(4), {.steps = 2, .callbacks = {note}});
    return note.text;
  });
  run_case("fit/events of two fits", [&] {
    Line line(on.first);
    Events note;
    line.fit({.callbacks = {note}});
    line.fit({.callbacks = {note}});
    return note.text;
  });
}

/// Gives twice the input in training, else three times.
class Flag : public nn::Module {
  Tensor call(const Tensor& x, nn::CallOptions options) override {
    return x * (options.training ? 2.0f : 3.0f);
  }
};

std::string with_flag(dist::Strategy& strategy) {
  const auto scope = strategy.scope();
  nn::Sequential net(
      Flag(),
      nn::Dense({.units = 1, .use_bias = false, .kernel_initializer = nn::initializers::ones()}));
  optim::SGD optimizer({.learning_rate = 0.1});
  train::Model model(net);
  model.compile({.optimizer = optimizer, .loss = "mse"});
  model.fit(batches(4, 8), {.verbose = train::Verbose::Silent});
  std::vector<double> predicted;
  for (const float value : model.predict(batches(4, 4)).to_vector()) predicted.push_back(value);
  return number(net.trainable_variables().at(0).value().item<float>()) + " " + numbers(predicted) +
         " " + number(model.evaluate(batches(4, 8)).at("loss"));
}

void weight_cases(const Strategies& on) {
  const auto weight = [&](const std::string& name, const dist::data::Dataset& data,
                          const train::FitOptions& options = {}, const LineOptions& line = {}) {
    run_case("fit/weight after " + name, [&] {
      Line trained(line.accumulation > 1 ? on.second : on.first, line);
      trained.fit(data, options);
      return trained.steps_and_weight();
    });
  };
  const auto whole = batches(4, 8);
  weight("a partial batch of 2", batches(4));
  weight("a partial batch of 1", batches(4, 9));
  weight("whole batches", whole);
  weight("two epochs", whole, {.epochs = 2});
  weight("Adam", whole, {.epochs = 2},
         {.optimizer = making<optim::Adam>(optim::AdamOptions{.learning_rate = 0.1})});
  weight("nesterov and decay", whole, {.epochs = 2},
         {.optimizer = sgd(
              {.learning_rate = 0.1, .momentum = 0.9f, .nesterov = true, .weight_decay = 0.01})});
  weight("repeated data", batches(4, 8).repeat(), {.epochs = 2, .steps_per_epoch = 3});
  weight("a schedule", whole, {.epochs = 2},
         {.optimizer = sgd({.learning_rate = optim::ExponentialDecay{0.1, 1, 0.5}})});
  weight("accumulation", batches(2, 8), {}, {.accumulation = 2});
  weight("clipvalue", whole, {}, {.optimizer = sgd({.learning_rate = 0.1, .clipvalue = 0.05})});
  weight("global_clipnorm", whole, {},
         {.optimizer = sgd({.learning_rate = 0.1, .global_clipnorm = 0.05})});
  run_case("fit/arrays with validation_split", [&] {
    Line line(on.first);
    const auto history = line.model.fit(
        train::ArrayData{inputs(10), targets(10)}, {.verbose = train::Verbose::Silent},
        {.batch_size = 4, .shuffle = false, .validation_split = 0.2});
    return line.weight() + " " + figures(at(history, 0, {"loss", "mae", "val_loss", "val_mae"}));
  });
  for (const bool two : {true, false})
    run_case(str_cat("fit/L2 under ", two ? "two replicas" : "one"), [&] {
      Line line(two ? on.first : on.second, {.regularizer = nn::regularizers::l2(0.5)});
      const auto history = line.fit();
      return line.weight() + " " + number(history.history.at("loss").at(0));
    });
  run_case("fit/training flag", [&] { return with_flag(on.first); });
}

void figure_cases(const Strategies& on) {
  const auto history = [&](const std::string& name, const dist::data::Dataset& data,
                           const train::FitOptions& options = {}, size_t epoch = 0,
                           const LineOptions& line = {},
                           const std::vector<std::string>& order = {"loss", "mae"}) {
    run_case("fit/history of " + name,
             [&] { return figures(at(Line(on.first, line).fit(data, options), epoch, order)); });
  };
  history("sample weights", weighted(4));
  history("a partial batch", batches(4));
  history("a partial batch of 1", batches(4, 9));
  history("a second epoch", batches(4), {.epochs = 2}, 1,
          {.metrics =
               [] {
                 return Metrics{"mae", nn::metrics::RootMeanSquaredError("r")};
               }},
          {"loss", "mae", "r"});
  history("validation", batches(4, 8), {.validation_data = batches(4, 8)}, 0, {},
          {"loss", "mae", "val_loss", "val_mae"});
  run_case("fit/history of every other validation", [&] {
    const auto all =
        Line(on.first).fit({.epochs = 4, .validation_data = batches(4, 8), .validation_freq = 2});
    std::string text;
    for (const char* name : {"loss", "mae", "val_loss", "val_mae"})
      text += str_cat(text.empty() ? "" : " ", name, ":", all.history.at(name).size());
    return text;
  });
  const std::vector<std::pair<const char*, dist::data::Dataset>> data{
      {"whole batches", batches(4, 8)}, {"a partial batch", batches(4)}, {"weights", weighted(4)}};
  for (const auto& [name, set] : data)
    run_case(str_cat("fit/evaluate ", name),
             [&, &set = set] { return figures(Line(on.first).model.evaluate(set)); });
  run_case("fit/predict", [&] {
    std::vector<double> values;
    for (const float value : Line(on.first).model.predict(batches(4)).to_vector())
      values.push_back(value);
    return numbers(values);
  });
  run_case("fit/predict two steps", [&] {
    return str_cat(Line(on.first).model.predict(batches(4), {.steps = 2}).shape()[0]);
  });
  run_case("fit/columns of CSVLogger", [&] {
    const std::string path = fs::temp_directory_path() / str_cat("fit_cases-", ::getpid(), ".csv");
    Line(on.first).fit({.epochs = 2,
                        .validation_data = batches(4, 8),
                        .callbacks = {train::CSVLogger({.filename = path})}});
    std::string line;
    std::ifstream file(path);
    std::getline(file, line);
    fs::remove(path);
    return line;
  });
}

/// With averages.
template <typename Optimizer, typename Options>
MakeOptimizer averaging() {
  Options options;
  options.learning_rate = 0.1;
  options.use_ema = true;
  options.ema_momentum = 0.5;
  return making<Optimizer>(options);
}

void average_cases(const Strategies& on) {
  const std::vector<std::pair<const char*, MakeOptimizer>> kinds{
      {"SGD", averaging<optim::SGD, optim::SGDOptions>()},
      {"Adam", averaging<optim::Adam, optim::AdamOptions>()},
      {"AdamW", averaging<optim::AdamW, optim::AdamWOptions>()},
      {"RMSprop", averaging<optim::RMSprop, optim::RMSpropOptions>()},
      {"Adagrad", averaging<optim::Adagrad, optim::AdagradOptions>()},
      {"Adadelta", averaging<optim::Adadelta, optim::AdadeltaOptions>()},
      {"Adamax", averaging<optim::Adamax, optim::AdamaxOptions>()},
      {"Nadam", averaging<optim::Nadam, optim::NadamOptions>()},
      {"Ftrl", averaging<optim::Ftrl, optim::FtrlOptions>()},
      {"Lion", averaging<optim::Lion, optim::LionOptions>()},
      {"Lamb", averaging<optim::Lamb, optim::LambOptions>()}};
  for (const auto& [name, make] : kinds)
    run_case(str_cat("averages/", name), [&, &make = make] {
      Line line(on.second, {.optimizer = make});
      line.fit({.epochs = 2});
      return line.weight();
    });
  const auto weight = [&](const std::string& name, const train::FitOptions& options = {},
                          const MakeOptimizer& optimizer = ema(), bool two = false) {
    run_case("averages/" + name, [&] {
      Line line(two ? on.first : on.second, {.optimizer = optimizer});
      auto history = line.fit(options).history;
      return line.weight() + " " + numbers(history["val_loss"]);
    });
  };
  weight("two replicas", {}, ema(), true);
  weight("no epoch", {.epochs = 0});
  for (const int64_t frequency : {1, 2, 3})
    weight(str_cat("overwritten every ", frequency), {.epochs = 2},
           ema({.learning_rate = 0.1, .ema_overwrite_frequency = frequency}));
  weight("a stop in the second epoch", {.epochs = 5, .callbacks = {Stop(1)}});
  for (const bool restores : {false, true})
    weight(restores ? "restored best weights" : "early stopping",
           {.epochs = 5,
            .validation_data = batches(4, 8),
            .callbacks = {train::EarlyStopping({.patience = 1, .restore_best_weights = restores})}},
           ema({.learning_rate = 1.0}));
  for (const bool swap : {false, true}) {
    const std::string name = str_cat("swapped, on epochs ", swap ? "True" : "False");
    weight(name, {.epochs = 3,
                  .validation_data = batches(4, 8),
                  .callbacks = {train::SwapEMAWeights(swap)}});
    weight(name + ", and stopped", {.epochs = 5,
                                    .validation_data = batches(4, 8),
                                    .callbacks = {train::SwapEMAWeights(swap), Stop(1)}});
  }
  for (const bool swaps : {false, true})
    run_case(str_cat("averages/two fits", swaps ? ", swapped" : ""), [&] {
      Line line(on.second, {.optimizer = ema()});
      train::FitOptions options{.epochs = 2};
      if (swaps) options.callbacks.emplace_back(train::SwapEMAWeights(true));
      line.fit(options);
      const std::string first = line.weight();
      line.fit(options);
      return first + " " + line.weight();
    });
  run_case("averages/a fit of what was saved", [&] {
    const fs::path folder = fs::temp_directory_path() / str_cat("fit_cases-", ::getpid());
    std::string prefix;
    {
      Line line(on.second, {.optimizer = ema()});
      line.fit({.epochs = 2});
      prefix = train::Checkpoint(line.model.checkpoint_parts()).save(folder / "ckpt");
    }
    Line again(on.second, {.optimizer = ema()});
    again.model.build(batches(4, 8).element_spec());
    train::Checkpoint(again.model.checkpoint_parts()).restore(prefix);
    again.fit();
    fs::remove_all(folder);
    return again.weight();
  });
}

std::string epochs_of(const std::string& name, const std::vector<double>& values,
                      const train::CallbackHandle& watcher,
                      const std::vector<train::CompiledMetric>& metrics = {"mae"}) {
  Line line(dist::get_strategy(), {.metrics = [&] { return metrics; }});
  return str_cat(
      line.fit({.epochs = int64_t(values.size()), .callbacks = {figure(name, values), watcher}})
          .epoch.size());
}

void direction_cases(const Strategies&) {
  const std::vector<double> rising{1, 2, 3, 4};
  const auto stops = [&](const std::string& monitor, std::vector<train::CompiledMetric> metrics,
                         train::MonitorMode mode = train::MonitorMode::Auto) {
    return epochs_of(monitor, rising, train::EarlyStopping({.monitor = monitor, .mode = mode}),
                     metrics);
  };
  for (const char* name : {"accuracy", "binary_accuracy", "mse", "mae", "mape", "msle",
                           "RootMeanSquaredError", "cosine_similarity", "kl_divergence", "poisson",
                           "binary_crossentropy", "hinge", "squared_hinge", "categorical_hinge",
                           "AUC", "Precision", "Recall", "TruePositives", "FalseNegatives"})
    run_case(str_cat("directions/", name),
             [&] { return stops(str_cat("val_", name), {train::CompiledMetric(name)}); });
  namespace metrics = nn::metrics;
  const std::vector<std::pair<const char*, std::function<train::CompiledMetric()>>> objects{
      {"AUC", [] { return train::CompiledMetric(metrics::AUC({.name = "m"})); }},
      {"Precision", [] { return train::CompiledMetric(metrics::Precision({.name = "m"})); }},
      {"F1Score", [] { return train::CompiledMetric(metrics::F1Score({.name = "m"})); }},
      {"MeanIoU", [] { return train::CompiledMetric(metrics::BinaryIoU({.name = "m"})); }},
      {"LogCoshError", [] { return train::CompiledMetric(metrics::LogCoshError("m")); }},
      {"TopK",
       [] { return train::CompiledMetric(metrics::TopKCategoricalAccuracy({.name = "m"})); }},
      {"function", [] {
         return train::CompiledMetric(metrics::MeanMetricWrapper(
             [](const Tensor& a, const Tensor& b) { return a - b; }, "m"));
       }}};
  for (const auto& [name, make] : objects)
    run_case(str_cat("directions/object ", name),
             [&, &make = make] { return stops("val_m", {make()}); });
  for (const char* name : {"loss", "val_loss"})
    run_case(str_cat("directions/", name), [&] { return stops(name, {"mae"}); });
  run_case("directions/what is no metric", [&] { return stops("val_acc", {"mae"}); });
  run_case("directions/what is no metric, with a mode",
           [&] { return stops("val_acc", {"mae"}, train::MonitorMode::Max); });
  run_case("directions/ReduceLROnPlateau of what is no metric", [&] {
    return epochs_of("val_acc", rising, train::ReduceLROnPlateau({.monitor = "val_acc"}));
  });
  run_case("directions/ModelCheckpoint of what is no metric", [&] {
    return epochs_of("val_acc", rising,
                     train::ModelCheckpoint({.filepath = "unused", .monitor = "val_acc"}));
  });
}

const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();

void stopping_cases(const Strategies& on) {
  const auto epochs = [&](const std::string& name, const std::vector<double>& values,
                          const train::EarlyStoppingOptions& options) {
    run_case("stopping/" + name,
             [&] { return epochs_of("val_loss", values, train::EarlyStopping(options)); });
  };
  epochs("patience", {4, 3, 3, 3, 3}, {.patience = 2});
  epochs("baseline", {4, 3, 3, 3, 3}, {.patience = 2, .baseline = 1.5});
  epochs("baseline that is beaten", {4, 3, 1, 1, 1}, {.patience = 2, .baseline = 1.5});
  epochs("min_delta", {4, 3.95, 3.9, 3}, {.min_delta = 0.2});
  epochs("start_from_epoch", {1, 2, 3, 3, 4}, {.start_from_epoch = 2});
  epochs("not a number", {kNan, kNan, kNan, 1}, {.patience = 2});
  epochs("not a number later", {1, kNan, kNan, 1, 1}, {.patience = 2});
  epochs("infinity", {kInfinity, kInfinity, kInfinity, kInfinity}, {.patience = 2});
  run_case("stopping/restored weights", [&] {
    Line line(on.first, {.optimizer = sgd({.learning_rate = 0.9})});
    const auto history =
        line.fit({.epochs = 10,
                  .validation_data = batches(4, 8),
                  .callbacks = {train::EarlyStopping(
                      {.monitor = "val_loss", .patience = 1, .restore_best_weights = true})}});
    return str_cat(history.epoch.size(), " ", line.weight());
  });
}

void rate_cases(const Strategies& on) {
  const optim::ExponentialDecay schedule{0.1, 1, 0.5};
  const auto rates = [&](const std::string& name, const std::vector<double>& values,
                         train::ReduceLROnPlateauOptions options,
                         const optim::LearningRate& rate = 0.5) {
    run_case("rates/" + name, [&] {
      options.factor = 0.5;
      Line line(on.second, {.optimizer = sgd({.learning_rate = rate})});
      const auto history =
          line.fit({.epochs = int64_t(values.size()),
                    .callbacks = {figure("val_loss", values), train::ReduceLROnPlateau(options)}});
      return numbers(history.history.at("learning_rate"));
    });
  };
  rates("plateau", {3, 2, 2, 2, 2, 2, 2}, {.patience = 2, .cooldown = 1, .min_lr = 0.2});
  rates("plateau of patience 1", {3, 2, 2, 2, 2, 2, 2}, {.patience = 1, .cooldown = 2});
  rates("plateau and small changes", {3, 2.9, 2.8, 2.7}, {.patience = 1, .min_delta = 1});
  rates("plateau and not a number", {kNan, kNan, 2, 1}, {.patience = 1});
  rates("plateau over a schedule", {3, 3, 3, 3}, {.patience = 1}, schedule);
  const auto scheduled = [&](const optim::LearningRate& rate) {
    Line line(on.first, {.optimizer = sgd({.learning_rate = rate})});
    const auto history = line.fit(
        {.epochs = 3, .callbacks = {train::LearningRateScheduler([](int64_t, double before) {
                        return before * 0.5;
                      })}});
    return numbers(history.history.at("learning_rate"));
  };
  run_case("rates/LearningRateScheduler", [&] { return scheduled(0.1); });
  run_case("rates/LearningRateScheduler over a schedule", [&] { return scheduled(schedule); });
  const auto assigned = [](const optim::LearningRate& first, const optim::LearningRate& second) {
    optim::SGD optimizer({.learning_rate = first});
    optimizer.set_learning_rate(second);
    return number(optimizer.learning_rate());
  };
  run_case("rates/a number over a schedule", [&] { return assigned(schedule, 0.5); });
  run_case("rates/a schedule over a number", [&] { return assigned(0.5, schedule); });
  run_case("rates/a schedule over a schedule", [&] { return assigned(schedule, schedule); });
}

void file_cases(const Strategies& on) {
  const fs::path folder = fs::temp_directory_path() / str_cat("fit_cases-", ::getpid());
  const auto files =
      [&](const std::string& name, const std::string& pattern, const std::vector<double>& values,
          train::ModelCheckpointOptions options = {}, const std::string& of = "val_loss") {
        run_case("files/" + name, [&] {
          fs::create_directory(folder);
          options.filepath = folder / pattern;
          options.save_weights_only = true;
          Line(on.second).fit({.epochs = int64_t(values.size()),
                               .callbacks = {figure(of, values), train::ModelCheckpoint(options)}});
          std::set<std::string> names;
          for (const auto& entry : fs::directory_iterator(folder))
            if (entry.path().extension() == ".index") names.insert(entry.path().stem());
          std::string text;
          for (std::string one : names) {
            for (char& c : one)
              if (c == ' ') c = '_';
            text += (text.empty() ? "" : " ") + one;
          }
          return text;
        });
        fs::remove_all(folder);
      };
  files("best only", "{epoch}", {3, 4, 2, 2}, {.save_best_only = true});
  files("best only, not a number first", "{epoch}", {kNan, 4, 2, 5}, {.save_best_only = true});
  files("best only, threshold", "{epoch}", {3, 2.5, 2},
        {.save_best_only = true, .initial_value_threshold = 2.7});
  files("best only without the monitor", "{epoch}", {3, 4, 2}, {.save_best_only = true}, "other");
  files("best only, every 2 batches, val_loss", "{epoch}-{batch}", {3, 4},
        {.save_best_only = true, .save_freq = 2});
  files("best only, every batch, val_loss", "{epoch}-{batch}", {3, 4},
        {.save_best_only = true, .save_freq = 1});
  files("every 3 batches", "{epoch}-{batch}", {3, 4, 1, 1}, {.save_freq = 3});
  for (const char* spec : {"{epoch:>3}",        "{epoch:03d}",        "{epoch:<3}|",
                           "{epoch:^5}|",       "{epoch:*^5}",        "{epoch:+d}",
                           "{epoch: d}",        "{epoch:x}",          "{epoch:#x}",
                           "{epoch:b}",         "{epoch:.1f}",        "{epoch:.0%}",
                           "{epoch:e}",         "{epoch:5.1f}",       "{epoch:=+4}",
                           "{epoch:,}",         "{epoch!r}",          "{{epoch}}{epoch}",
                           "{epoch:.2d}",       "{epoch:s}",          "{other}",
                           "{val_loss}",        "{val_loss:.1%}",     "{val_loss:%}",
                           "{val_loss:.2f}",    "{val_loss:08.3f}",   "{val_loss:>8.2f}",
                           "{val_loss:<8.2f}|", "{val_loss:+.2e}",    "{val_loss:g}",
                           "{val_loss:.3}",     "{val_loss:G}",       "{val_loss:_>9}",
                           "{val_loss:,.1f}",   "{val_loss:_.1f}",    "{val_loss:d}",
                           "{val_loss:#.0f}",   "{val_loss:-.1f}",    "{val_loss:E}",
                           "{val_loss:n}",      "{val_loss:010,.1f}", "{val_loss:.2f"})
    files(str_cat("name ", spec), spec, {12345.678});
  const std::vector<std::pair<const char*, double>> values{{"1e-05", 1e-5},
                                                           {"1e+16", 1e16},
                                                           {"0.1", 0.1},
                                                           {"1.0", 1.0},
                                                           {"123456789.0", 123456789.0},
                                                           {"0.0001", 1e-4},
                                                           {"nan", kNan},
                                                           {"inf", kInfinity},
                                                           {"-0.5", -0.5},
                                                           {"1e+22", 1e22}};
  for (const auto& [name, value] : values) {
    files(str_cat("figure ", name), "{val_loss}", {value});
    files(str_cat("figure ", name, ", three digits"), "{val_loss:.3}", {value});
  }
}

void number_cases(const Strategies& on) {
  const auto run = [&](const std::string& name, const std::function<std::string()>& function) {
    print_case("numbers/" + name, function);
  };
  const auto epochs = [&](const std::string& name, const train::FitOptions& options) {
    run(name, [&] { return str_cat(Line(on.second).fit(options).epoch.size()); });
  };
  epochs("epochs=0", {.epochs = 0});
  epochs("epochs=-1", {.epochs = -1});
  epochs("initial_epoch=5 of 2", {.epochs = 2, .initial_epoch = 5});
  epochs("steps_per_epoch=0", {.steps_per_epoch = 0});
  epochs("validation_steps=0", {.validation_data = batches(4), .validation_steps = 0});
  run("validation_freq=0", [&] {
    return str_cat(Line(on.second)
                       .fit({.validation_data = batches(4), .validation_freq = int64_t{0}})
                       .epoch.size());
  });
  run("evaluate steps=0",
      [&] { return figures(Line(on.second).model.evaluate(batches(4), {.steps = 0})); });
  run("predict steps=0",
      [&] { return str_cat(Line(on.second).model.predict(batches(4), {.steps = 0}).shape()[0]); });
  for (const int64_t size : {0, -1})
    run(str_cat("batch_size=", size), [&] {
      return str_cat(Line(on.second)
                         .model
                         .fit(train::ArrayData{inputs(10), targets(10)},
                              {.verbose = train::Verbose::Silent}, {.batch_size = size})
                         .epoch.size());
    });
  run("steps_per_execution=0",
      [&] { return str_cat(Line(on.second, {.steps_per_execution = 0}).fit().epoch.size()); });
  run("gradient_accumulation_steps=1",
      [&] { return str_cat(Line(on.second, {.accumulation = 1}).fit().epoch.size()); });
  const auto made = [&](const std::string& name, const optim::SGDOptions& options) {
    run(name, [&] { return sgd(options)() ? "1" : "0"; });
  };
  made("ema_momentum=2", {.use_ema = true, .ema_momentum = 2});
  made("ema_overwrite_frequency=0", {.use_ema = true, .ema_overwrite_frequency = 0});
  made("clipnorm=-1", {.clipnorm = -1});
}

struct MixedFloat16 {
  MixedFloat16() { nn::set_global_policy("mixed_float16"); }
  ~MixedFloat16() { nn::set_global_policy("float32"); }
};

std::string tiny_gradient(dist::Strategy& strategy, bool scales) {
  const auto scope = strategy.scope();
  const MixedFloat16 policy;
  nn::Sequential net(
      nn::Dense({.units = 1, .use_bias = false, .kernel_initializer = nn::initializers::zeros()}));
  optim::SGD optimizer({.learning_rate = 1e6});
  train::Model model(net);
  const auto loss = [](const Tensor&, const Tensor& p) {
    return reshape(cast(p, dist::DType::Float32), {p.shape()[0]}) * 1e-8f;
  };
  model.compile({.optimizer = optimizer, .loss = loss, .auto_scale_loss = scales});
  const auto ones = dist::data::Dataset::from_tensor_slices(dist::ones({2, 1}), dist::ones({2, 1}));
  model.fit(ones.batch(2), {.verbose = train::Verbose::Silent});
  const bool scaled = dynamic_cast<optim::LossScaleOptimizer*>(&model.optimizer()) != nullptr;
  return str_cat(scaled ? "LossScaleOptimizer " : "SGD ",
                 number(net.trainable_variables().at(0).value().item<float>()));
}

void mixed_cases(const Strategies& on) {
  run_case("mixed/tiny gradient", [&] { return tiny_gradient(on.second, true); });
  run_case("mixed/tiny gradient without scale", [&] { return tiny_gradient(on.second, false); });
  for (const bool averages : {false, true})
    run_case(str_cat("mixed/fit", averages ? " with averages" : ""), [&] {
      const MixedFloat16 policy;
      Line line(on.second, {.optimizer = averages ? ema() : sgd()});
      const auto history = line.fit({.epochs = 2});
      const auto& scaled = dynamic_cast<optim::LossScaleOptimizer&>(line.model.optimizer());
      return str_cat(line.weight(), " ", number(scaled.loss_scale()), " ", scaled.iterations(), " ",
                     numbers(history.history.at("loss")));
    });
}

}  // namespace

void fit_cases() {
  auto two = mirrored(2);
  dist::OneDeviceStrategy one("/cpu:0");
  const Strategies on(two, one);
  for (auto* cases : {event_cases, weight_cases, figure_cases, average_cases, direction_cases,
                      stopping_cases, rate_cases, file_cases, number_cases, mixed_cases})
    cases(on);
}

}  // namespace comparison
