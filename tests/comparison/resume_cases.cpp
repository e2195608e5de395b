/// What callbacks write and read again, and optimizers that count, as resume_cases.py prints them.
#include "option_cases.hpp"

#include <distribute/autograd/gradient_tape.hpp>
#include <distribute/base/status.hpp>
#include <distribute/io/tfrecord.hpp>
#include <distribute/nn/dense.hpp>
#include <distribute/nn/policy.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/ops/reduce.hpp>
#include <distribute/optim/adam.hpp>
#include <distribute/optim/loss_scale_optimizer.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/summary/event.hpp>
#include <distribute/train/backup_and_restore.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/monitored_callbacks.hpp>
#include <distribute/train/tensor_board.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>

namespace comparison {

namespace {

namespace fs = std::filesystem;
namespace optim = dist::optim;
namespace train = dist::train;
using Floats = std::vector<float>;
using train::Logs;
using Callbacks = std::vector<train::CallbackHandle>;
using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>()>;

const float kInfinity = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

template <typename Function>
void check(const std::string& name, Function function) {
  run_case("resumed/" + name, function);
}

std::string numbers(const std::vector<double>& values) {
  std::string text = rows(values);
  return text.substr(1, text.size() - 2);
}
std::string numbers(const Tensor& tensor) {
  const Floats values = tensor.to_vector();
  return numbers(std::vector<double>(values.begin(), values.end()));
}

Tensor x(int64_t rows = 10) {
  Floats values;
  for (int64_t i = 1; i <= rows; ++i) values.push_back(float(i) / 10);
  return Tensor({rows, 1}, values);
}
train::ArrayData data(int64_t rows = 10) { return {x(rows), x(rows) * 2.0f + 1.0f}; }
Tensor weights() { return reshape(x() * 2.0f, {10}); }

template <typename Optimizer, typename Options>
MakeOptimizer making(const Options& options) {
  return [options] { return std::make_unique<Optimizer>(options); };
}
MakeOptimizer sgd(optim::SGDOptions options = {}) {
  if (!options.learning_rate.is_schedule() && options.learning_rate(0) == 0.01)
    options.learning_rate = 0.1;
  return making<optim::SGD>(options);
}
MakeOptimizer adam(optim::LearningRate rate = 0.1) {
  return making<optim::Adam>(optim::AdamOptions{.learning_rate = rate});
}
optim::LearningRate decay(double rate) { return optim::ExponentialDecay{rate, 2, 0.5}; }

/// The line of odd_cases.cpp.
struct Line {
  explicit Line(const MakeOptimizer& make, std::vector<train::CompiledMetric> metrics = {},
                int64_t accumulation = 1)
      : optimizer(make()), model(dense) {
    model.compile({.optimizer = *optimizer,
                   .loss = "mse",
                   .metrics = std::move(metrics),
                   .gradient_accumulation_steps = accumulation});
  }
  train::History fit(train::FitOptions options = {}, train::ArrayOptions arrays = {},
                     const train::ArrayData& examples = data()) {
    options.verbose = train::Verbose::Silent;
    arrays.batch_size = 4;
    arrays.shuffle = false;
    return model.fit(examples, options, arrays);
  }
  std::string result(const train::History& history) {
    std::string text;
    for (const auto& [name, values] : history.history)
      if (!values.empty()) text += dist::str_cat(name, " ", numbers(values), " ");
    return text + "weights " + numbers(dense.kernel().value()) + " " +
           numbers(dense.bias().value());
  }

  nn::Dense dense{nn::DenseOptions{.units = 1, .kernel_initializer = nn::initializers::ones()}};
  std::unique_ptr<optim::Optimizer> optimizer;
  train::Model model;
};

struct Folder {
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  fs::path path = fs::temp_directory_path() / dist::str_cat("resume_cases-", ::getpid());
};

train::LambdaCallback figure(const std::string& name, std::vector<double> values) {
  return train::LambdaCallback(
      {.on_epoch_end = [name, values = std::move(values)](int64_t epoch, Logs& logs) {
        logs.set(name, values.at(size_t(epoch)));
      }});
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// The bytes of a file, with " \r\n " for an end of line.
std::string text_of(const fs::path& path, const std::string& separator) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text = replaced(replaced(replaced(text, separator, " "), "\r", " \\r"), "\n", "\\n ");
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

struct Csv {
  std::string separator = ",";
  Callbacks before = {};
};

void csv_of(const std::string& name, const train::FitOptions& options,
            const train::ArrayOptions& arrays = {}, const Csv& csv = {}) {
  check("csv " + name, [&] {
    const Folder folder;
    const fs::path path = folder.path / "log.csv";
    train::FitOptions with = options;
    with.callbacks = csv.before;
    with.callbacks.push_back(
        train::CSVLogger({.filename = path.string(), .separator = csv.separator}));
    Line(sgd(), {"mae"}).fit(with, arrays);
    return text_of(path, csv.separator);
  });
}

void csv_twice(const std::string& name, bool append, bool same, bool validated) {
  check("csv twice, " + name, [&] {
    const Folder folder;
    const train::CSVLoggerOptions options{.filename = (folder.path / "log.csv").string(),
                                          .append = append};
    const auto log = std::make_shared<train::CSVLogger>(options);
    for (int64_t times = 0; times < 2; ++times) {
      train::ArrayOptions arrays;
      if (validated && times) arrays.validation_data = data();
      const auto used = same ? log : std::make_shared<train::CSVLogger>(options);
      Line(sgd()).fit({.epochs = 2 * times + 2, .callbacks = {used}, .initial_epoch = 2 * times},
                      arrays);
    }
    return text_of(options.filename, ",");
  });
}

void csv_after(const std::string& name, const std::string& before) {
  check("csv after " + name, [&] {
    const Folder folder;
    const fs::path path = folder.path / "log.csv";
    std::ofstream(path, std::ios::binary) << before;
    Line(sgd()).fit({.callbacks = {train::CSVLogger({.filename = path.string(), .append = true})}});
    return text_of(path, ",");
  });
}

void csv_cases() {
  const train::ArrayOptions validated{.validation_data = data()};
  csv_of("without validation", {.epochs = 2});
  csv_of("separator", {.epochs = 2}, validated, {.separator = ";"});
  csv_of("of two letters", {}, {}, {.separator = "::"});
  csv_of("validation of some epochs", {.epochs = 4, .validation_freq = 2}, validated);
  csv_of("validation of listed epochs", {.epochs = 4, .validation_freq = {1, 4}}, validated);
  csv_of("a late name", {.epochs = 2, .validation_freq = 2}, validated,
         {.before = {figure("zeta", {1, 2})}});
  csv_of("no numbers", {.epochs = 3}, {},
         {.before = {figure("val_loss", {kNan, kInfinity, -kInfinity})}});
  csv_of("large and small", {.epochs = 3}, {},
         {.before = {figure("val_loss", {1e-12, 123456789.0, 1e22})}});
  int at = 0;
  for (const char* name : {"a,b", "say \"x\"", "semi;colon", "line\nbreak", " space", "quote'"}) {
    for (const char* separator : {",", ";"})
      csv_of(dist::str_cat("odd name ", at, " with ", separator), {.epochs = 3}, {},
             {.separator = separator, .before = {figure(name, {0.1, 1e-5, 1e16})}});
    ++at;
  }
  csv_of(
      "rates", {.epochs = 2}, {},
      {.before = {train::LearningRateScheduler([](int64_t, double rate) { return rate * 0.3; })}});
  for (bool append : {false, true})
    for (bool same : {false, true})
      csv_twice("append " + text(append) + ", same object " + text(same), append, same, false);
  csv_after("a file with '\\r\\n'", "epoch,loss,val_loss\r\n0,0.5,NA\r\n");
  csv_after("a file with '\\n'", "epoch,loss,val_loss\n0,0.5,NA\n");
  csv_after("an empty file", "");
  csv_twice("validated later", true, false, true);
}

struct Killed {};

struct Resume {
  int64_t epoch = 2, batch = 0, epochs = 4;
  std::function<Callbacks()> more = [] { return Callbacks(); };
  train::SaveFrequency save_freq = "epoch";
  bool delete_checkpoint = true;
};

std::string resumed(const MakeOptimizer& make, const Resume& resume) {
  const Folder folder;
  const fs::path path = folder.path / "backup", files = path / "chief";
  int64_t now = 0;
  train::LambdaCallback kill({.on_epoch_begin = [&](int64_t epoch, Logs&) { now = epoch; },
                              .on_train_batch_begin =
                                  [&](int64_t batch, Logs&) {
                                    if (now == resume.epoch && batch == resume.batch)
                                      throw Killed();
                                  }});
  const auto callbacks = [&] {
    Callbacks all = resume.more();
    all.push_back(train::BackupAndRestore({.backup_dir = path.string(),
                                           .save_freq = resume.save_freq,
                                           .delete_checkpoint = resume.delete_checkpoint}));
    return all;
  };
  try {
    Callbacks all = callbacks();
    all.push_back(kill);
    Line(make).fit({.epochs = resume.epochs, .callbacks = all});
  } catch (const Killed&) {
  }
  const bool kept = fs::exists(files) && !fs::is_empty(files);
  Line line(make);
  line.dense(x());
  const train::History history = line.fit({.epochs = resume.epochs, .callbacks = callbacks()});
  const bool ended = fs::exists(files) && !fs::is_empty(files);
  std::string epochs;
  for (const int64_t epoch : history.epoch)
    epochs += (epochs.empty() ? "" : ", ") + std::to_string(epoch);
  return dist::str_cat(text(kept), " ", text(ended), " [", epochs, "] ",
                       line.optimizer->iterations(), " ", line.result(history));
}

void backup_cases() {
  const auto backup = [](const std::string& name, const MakeOptimizer& make, Resume resume) {
    check("backup" + name, [&] { return resumed(make, resume); });
  };
  const std::vector<std::pair<std::string, MakeOptimizer>> makes = {
      {"adam", adam()},
      {"momentum", sgd({.learning_rate = 0.05, .momentum = 0.9})},
      {"schedule", adam(decay(0.1))},
      {"averages", sgd({.use_ema = true, .ema_momentum = 0.5})}};
  for (const auto& [name, make] : makes) {
    backup(" " + name, make, {});
    backup(" " + name + ", in a batch", make, {.batch = 1});
  }
  backup(", first epoch", adam(), {.epoch = 0, .batch = 1});
  backup(", never killed", adam(), {.epoch = 9});
  backup(", never killed, kept", adam(), {.epoch = 9, .delete_checkpoint = false});
  backup(", kept", adam(), {.epoch = 3, .delete_checkpoint = false});
  for (int every : {1, 2, 4, 5})
    backup(dist::str_cat(" every ", every), adam(), {.batch = 1, .save_freq = every});
  backup(" and stopping", sgd({.learning_rate = 1.2}),
         {.epochs = 8, .more = [] {
            return Callbacks{train::EarlyStopping({.monitor = "loss", .patience = 3})};
          }});
  backup(" and plateau", sgd(),
         {.epochs = 6, .more = [] {
            return Callbacks{train::ReduceLROnPlateau(
                {.monitor = "loss", .factor = 0.5, .patience = 2, .min_delta = 10})};
          }});
}

void lambda_cases() {
  check("lambda", [] {
    std::string noted;
    const auto add = [&](const std::string& name, Logs& logs) {
      std::vector<std::string> names;
      for (const auto& [one, value] : logs) names.push_back(one);
      std::sort(names.begin(), names.end());
      noted += (noted.empty() ? "" : " | ") + name;
      for (const std::string& one : names) noted += " " + one;
    };
    const auto plain = [&](const std::string& name) {
      return [=](Logs& logs) { add(name, logs); };
    };
    const auto numbered = [&](const std::string& name) {
      return [=](int64_t number, Logs& logs) { add(dist::str_cat(name, " ", number), logs); };
    };
    train::LambdaCallback callback({.on_epoch_begin = numbered("epoch_begin"),
                                    .on_epoch_end = numbered("epoch_end"),
                                    .on_train_batch_begin = numbered("train_batch_begin"),
                                    .on_train_batch_end = numbered("train_batch_end"),
                                    .on_train_begin = plain("train_begin"),
                                    .on_train_end = plain("train_end"),
                                    .on_test_begin = plain("test_begin"),
                                    .on_test_end = plain("test_end"),
                                    .on_test_batch_begin = numbered("test_batch_begin"),
                                    .on_test_batch_end = numbered("test_batch_end")});
    Line(sgd(), {"mae"})
        .fit({.epochs = 3, .validation_freq = {3}, .callbacks = {callback}, .initial_epoch = 1},
             {.validation_data = data()});
    return noted;
  });
}

std::string scalars(const fs::path& folder) {
  std::vector<std::string> lines;
  for (const char* run : {"train", "validation"}) {
    if (!fs::exists(folder / run)) continue;
    for (const auto& entry : fs::directory_iterator(folder / run)) {
      auto reader = dist::value_or_throw(dist::io::RecordReader::open(entry.path().string()));
      for (std::string record; dist::value_or_throw(reader.next(record));) {
        const auto event = dist::summary::decode_event(record, "file");
        for (const auto& one : event.entries)
          lines.push_back(dist::str_cat(run, " ", one.tag, " ", event.step, " ",
                                        numbers(std::vector<double>{one.number})));
      }
    }
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : " | ") + line;
  return text;
}

struct Board {
  MakeOptimizer make = sgd();
  int64_t fits = 1, accumulation = 1;
  bool validated = true;
  train::SaveFrequency update_freq = "epoch";
};

void board_of(const std::string& name, const Board& board) {
  check("board " + name, [&] {
    const Folder folder;
    Line line(board.make, {"mae"}, board.accumulation);
    train::TensorBoard log(
        {.log_dir = folder.path.string(), .write_graph = false, .update_freq = board.update_freq});
    train::ArrayOptions arrays;
    if (board.validated) arrays.validation_data = data();
    for (int64_t times = 0; times < board.fits; ++times)
      line.fit({.epochs = times + 2, .callbacks = {log}, .initial_epoch = 2 * times}, arrays);
    return scalars(folder.path);
  });
}

void board_cases() {
  board_of("of epochs", {});
  board_of("without validation", {.validated = false});
  board_of("of batches", {.update_freq = 1});
  board_of("every 2", {.update_freq = 2});
  board_of("every 4", {.update_freq = 4});
  board_of("of a schedule", {.make = sgd({.learning_rate = decay(0.1)})});
  board_of("of accumulation", {.accumulation = 2});
  board_of("of two fits", {.fits = 2, .update_freq = 2});
}

std::string scaled_steps(const MakeOptimizer& make, const std::vector<Floats>& gradients,
                         const optim::LossScaleOptimizerOptions& options) {
  optim::LossScaleOptimizer optimizer(make(), options);
  const dist::Variable weight(Tensor({2}, Floats{1, 2}), {.name = "weight"});
  std::string text;
  for (const Floats& gradient : gradients) {
    dist::GradientTape tape;
    const Tensor loss = optimizer.scale_loss(reduce_sum(weight * Tensor({2}, gradient)));
    optimizer.apply_gradients({tape.gradient(loss, weight)}, {weight});
    text += dist::str_cat(numbers(std::vector<double>{optimizer.loss_scale()}), " ",
                          optimizer.own_variables().at(0).variable.value().item<int64_t>(), " ",
                          optimizer.iterations(), " ", numbers(weight.value()), " | ");
  }
  optimizer.finalize_variable_values({weight});
  return text + numbers(weight.value());
}

std::string scaled_gradients(const std::vector<Floats>& gradients, double scale) {
  optim::LossScaleOptimizer optimizer(sgd()(), {.initial_scale = scale});
  const dist::Variable weight(Tensor({2}, Floats{1, 2}), {.name = "weight"});
  std::string text;
  for (const Floats& gradient : gradients) {
    optimizer.apply_gradients({Tensor({2}, gradient)}, {weight});
    text += (text.empty() ? "" : " | ") + numbers(std::vector<double>{optimizer.loss_scale()}) +
            dist::str_cat(" ", optimizer.iterations(), " ", numbers(weight.value()));
  }
  return text;
}

void scale_cases() {
  const Floats fine{0.5f, -0.25f}, bad{kInfinity, 1}, nan{kNan, 1};
  const auto scale = [](const std::string& name, const MakeOptimizer& make,
                        const std::vector<Floats>& gradients,
                        const optim::LossScaleOptimizerOptions& options) {
    check("scale " + name, [&] { return scaled_steps(make, gradients, options); });
  };
  const std::vector<std::pair<std::string, MakeOptimizer>> inners = {
      {"sgd", sgd()},
      {"adam", adam()},
      {"averages", sgd({.use_ema = true, .ema_momentum = 0.5})},
      {"overwritten", sgd({.use_ema = true, .ema_momentum = 0.5, .ema_overwrite_frequency = 2})},
      {"clipnorm", sgd({.clipnorm = 0.25})},
      {"global_clipnorm", sgd({.global_clipnorm = 0.25})},
      {"clipvalue", sgd({.clipvalue = 0.3})},
      {"weight_decay", sgd({.weight_decay = 0.1})},
      {"schedule", adam(decay(0.1))}};
  for (const auto& [name, make] : inners)
    scale(name, make, {fine, fine, bad, fine, nan, fine, fine, fine},
          {.initial_scale = 8, .dynamic_growth_steps = 2});
  scale("falls below 1", sgd(), {bad, bad, bad, fine}, {.initial_scale = 2});
  scale("below 1", sgd(), {fine, fine}, {.initial_scale = 0.25, .dynamic_growth_steps = 1});
  scale("grows each step", sgd(), {fine, fine, fine, fine},
        {.initial_scale = 1, .dynamic_growth_steps = 1});
  scale("and large gradients", sgd(), {{1e25f, 1}, fine}, {.initial_scale = 2});
  scale("grows too large", sgd(), {fine, fine, fine},
        {.initial_scale = 1e38, .dynamic_growth_steps = 1});
  scale("and a large norm", sgd(), {{3e38f, 3e38f}, fine}, {.initial_scale = 1});
  for (const double by : {0.25, 3.0})
    check("scale " + numbers(std::vector<double>{by}) + " of given gradients", [=] {
      return scaled_gradients({{2e38f, 1}, fine, bad}, by);
    });
  scale("-1", sgd(), {fine}, {.initial_scale = -1});
  const std::vector<std::pair<std::string, MakeOptimizer>> fixed = {
      {"alone", sgd()},
      {"clipnorm", sgd({.clipnorm = 0.5})},
      {"global_clipnorm", sgd({.global_clipnorm = 0.5})},
      {"clipvalue", sgd({.clipvalue = 0.3})},
      {"averages", sgd({.use_ema = true, .ema_momentum = 0.5})}};
  for (const auto& [name, make] : fixed)
    check("scale factor " + name, [&, make = make] {
      Line line([&] {
        return std::make_unique<optim::LossScaleOptimizer>(
            make(), optim::LossScaleOptimizerOptions{.dynamic = false, .initial_scale = 8});
      });
      const auto history = line.fit({.epochs = 2});
      return dist::str_cat(line.optimizer->iterations(), " ", line.result(history));
    });
}

/// Notes the scale, its counter, the steps and the weights after each batch.
std::string note(const optim::LossScaleOptimizer& optimizer, const nn::Dense& dense) {
  return numbers(std::vector<double>{optimizer.loss_scale()}) +
         dist::str_cat(" ", optimizer.own_variables().at(0).variable.value().item<int64_t>(), " ",
                       optimizer.iterations(), " ", numbers(dense.kernel().value()), " ",
                       numbers(dense.bias().value()), " | ");
}

/// Layers made in its lifetime have the policy.
struct PolicyOf {
  explicit PolicyOf(const std::string& name) { nn::set_global_policy(name); }
  ~PolicyOf() { nn::set_global_policy("float32"); }
};

struct LeftOut {
  std::vector<int64_t> bad;
  float value = kInfinity;
  int64_t accumulation = 3;
  bool is_half = false;
};

/// Trains on steps of 2 examples in which some batches have a gradient that is not finite.
std::string left_out(const MakeOptimizer& make, const LeftOut& left_out) {
  Floats values;
  for (int i = 1; i <= 12; ++i) values.push_back(float(i) / 8);
  for (const int64_t batch : left_out.bad) values[size_t(2 * batch)] = left_out.value;
  const PolicyOf policy(left_out.is_half ? "mixed_float16" : "float32");
  nn::Dense dense({.units = 1, .kernel_initializer = nn::initializers::ones()});
  std::unique_ptr<optim::Optimizer> optimizer = make();
  if (!left_out.is_half)
    optimizer = std::make_unique<optim::LossScaleOptimizer>(
        std::move(optimizer),
        optim::LossScaleOptimizerOptions{.initial_scale = 8, .dynamic_growth_steps = 2});
  train::Model model(dense);
  model.compile({.optimizer = *optimizer,
                 .loss = "mae",
                 .gradient_accumulation_steps = left_out.accumulation});
  std::string text;
  const auto& scaled = dynamic_cast<const optim::LossScaleOptimizer&>(model.optimizer());
  train::LambdaCallback notes(
      {.on_train_batch_end = [&](int64_t, Logs&) { text += note(scaled, dense); }});
  model.fit(train::ArrayData{Tensor({12, 1}, values), Tensor({12, 1}, Floats(12, 16))},
            {.epochs = 2, .callbacks = {notes}, .verbose = train::Verbose::Silent},
            {.batch_size = 2, .shuffle = false});
  return text + numbers(dense.kernel().value());
}

void left_out_cases() {
  const double rate = 0.125;
  const std::vector<std::pair<std::string, MakeOptimizer>> makes = {
      {"sgd", sgd({.learning_rate = rate})},
      {"momentum", sgd({.learning_rate = rate, .momentum = 0.5})},
      {"adam", adam(rate)},
      {"schedule", sgd({.learning_rate = decay(rate)})},
      {"clipnorm", sgd({.learning_rate = rate, .clipnorm = 0.25})},
      {"global_clipnorm", sgd({.learning_rate = rate, .global_clipnorm = 0.25})},
      {"clipvalue", sgd({.learning_rate = rate, .clipvalue = 0.5})},
      {"weight_decay", sgd({.learning_rate = rate, .weight_decay = 0.25})},
      {"averages", sgd({.learning_rate = rate, .use_ema = true, .ema_momentum = 0.5})},
      {"overwritten", sgd({.learning_rate = rate,
                           .use_ema = true,
                           .ema_momentum = 0.5,
                           .ema_overwrite_frequency = 2})}};
  const std::vector<std::pair<std::string, std::vector<int64_t>>> where = {
      {"no batch", {}},        {"the first batch", {0}}, {"a middle batch", {1}},
      {"the last batch", {2}}, {"two batches", {1, 2}},  {"all batches", {0, 1, 2, 3, 4, 5}}};
  for (const auto& [name, batches] : where) {
    for (const float value : {kInfinity, kNan})
      check("left out, " + name + ", " + numbers(std::vector<double>{value}),
            [&, batches = batches] {
              return left_out(makes[0].second, {.bad = batches, .value = value});
            });
    check("left out, " + name + ", float16", [&, batches = batches] {
      return left_out(makes[0].second, {.bad = batches, .is_half = true});
    });
  }
  for (const auto& [name, make] : makes)
    for (const int64_t steps : {2, 3})
      check(dist::str_cat("left out, ", steps, " batches, ", name), [&, make = make] {
        return left_out(make, {.bad = {1, 4}, .accumulation = steps});
      });
}

void accumulation_cases() {
  const std::vector<std::pair<std::string, MakeOptimizer>> makes = {
      {"sgd", sgd()},
      {"momentum", sgd({.learning_rate = 0.1, .momentum = 0.9})},
      {"schedule", sgd({.learning_rate = decay(0.2)})},
      {"adam", adam()},
      {"clipnorm", sgd({.clipnorm = 0.5})},
      {"clipvalue", sgd({.clipvalue = 0.3})},
      {"weight_decay", sgd({.weight_decay = 0.2})},
      {"averages", sgd({.use_ema = true, .ema_momentum = 0.5})},
      {"overwritten", sgd({.use_ema = true, .ema_momentum = 0.5, .ema_overwrite_frequency = 3})}};
  for (const auto& [name, make] : makes)
    for (const int64_t steps : {2, 4})
      check(dist::str_cat("accumulation ", steps, ", ", name), [&, make = make] {
        Line line(make, {}, steps);
        return line.result(line.fit({.epochs = 3}));
      });
  check("accumulation over two fits", [] {
    Line line(sgd(), {}, 2);
    const auto first = line.fit(), second = line.fit();
    return line.result(first) + " " + line.result(second);
  });
  check("accumulation and weights", [] {
    Line line(sgd(), {}, 3);
    train::ArrayData weighted = data();
    weighted.sample_weight = weights();
    return line.result(line.fit({.epochs = 2}, {}, weighted));
  });
}

void fit_of(const std::string& name, const train::FitOptions& options,
            const train::ArrayOptions& arrays = {}, bool weighted = false) {
  check("fit " + name, [&] {
    train::ArrayData examples = data();
    if (weighted) examples.sample_weight = weights();
    Line line(sgd());
    return line.result(line.fit(options, arrays, examples));
  });
}

void argument_cases() {
  const train::ArrayOptions five{.validation_data = data(5)}, ten{.validation_data = data()};
  fit_of("class weights and sample weights", {.class_weight = {{0, 2.0f}}}, {}, true);
  fit_of("validation of listed epochs", {.epochs = 5, .validation_freq = {1, 4}}, five);
  fit_of("validation of a list without epochs",
         {.epochs = 2, .validation_freq = std::initializer_list<int64_t>{}}, five);
  fit_of("validation of later epochs", {.epochs = 6, .validation_freq = 3, .initial_epoch = 2},
         five);
  train::ArrayData weighted = data();
  weighted.sample_weight = weights();
  fit_of("validation with weights", {.epochs = 2}, {.validation_data = weighted});
  for (const int64_t steps : {1, 2, 3, 5})
    fit_of(dist::str_cat("steps_per_epoch ", steps), {.epochs = 2, .steps_per_epoch = steps});
  for (const double share : {0.1, 0.5, 0.99, 1.0, 0.05})
    fit_of("validation_split " + python(share), {.epochs = 2}, {.validation_split = share});
  fit_of("split and data", {}, {.validation_split = 0.5, .validation_data = data()});
  fit_of("steps of a validation", {.epochs = 2, .validation_steps = 2}, ten);
  fit_of("steps of a validation beyond", {.epochs = 2, .validation_steps = 5}, ten);
  fit_of("batch of a validation", {.epochs = 2, .validation_steps = 2},
         {.validation_data = data(), .validation_batch_size = 3});
}

}  // namespace

void resume_cases() {
  csv_cases();
  backup_cases();
  lambda_cases();
  board_cases();
  scale_cases();
  left_out_cases();
  accumulation_cases();
  argument_cases();
}

}  // namespace comparison
