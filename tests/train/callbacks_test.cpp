#include <distribute/checkpoint/bundle.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/strategy/mirrored_strategy.hpp>
#include <distribute/train/callbacks.hpp>
#include <distribute/train/model.hpp>
#include <distribute/train/model_checkpoint.hpp>
#include <distribute/train/monitored_callbacks.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/comma_locale.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/support/thread_workers.hpp>
#include <tests/train/small_model.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace distribute;
using train::Logs;
using train::Model;
using train::Verbose;
namespace fs = std::filesystem;

namespace {

/// A model whose figures of each epoch are given: "loss", and as validation another list.
struct Scripted {
  nn::Sequential net = small_net();
  optim::SGD optimizer{{.learning_rate = 0.5}};
  Model model{net};
  std::vector<double> figures;

  explicit Scripted(std::vector<double> values) : figures(std::move(values)) {
    model.compile(
        {.optimizer = optimizer, .loss = nn::SparseCategoricalCrossentropy({.from_logits = true})});
  }
  /// Trains one batch an epoch; the logs get "figure" from the list.
  train::History fit(train::CallbackHandle callback, Logs more = {}) {
    train::LambdaCallback writer({.on_epoch_end = [&](int64_t epoch, Logs& logs) {
      logs.set("figure", figures.at(size_t(epoch)));
      for (const auto& [name, value] : more) logs.set(name, value);
    }});
    return model.fit(small_data(4).batch(4), {.epochs = int64_t(figures.size()),
                                              .callbacks = {writer, callback},
                                              .verbose = Verbose::Silent});
  }
};

}  // namespace

TEST_CASE("early stopping waits for its patience, and gives back the best weights",
          "[train][callbacks]") {
  Scripted run({5, 3, 4, 3.5, 3, 9, 9});
  std::vector<std::vector<float>> weights;
  train::LambdaCallback watcher({.on_epoch_end = [&](int64_t, Logs&) {
    weights.push_back(run.net.variables()[0].value().to_vector());
  }});
  using train::MonitorMode;
  train::EarlyStopping stopping(
      {.monitor = "figure", .patience = 3, .mode = MonitorMode::Min, .restore_best_weights = true});
  const bool restored = GENERATE(true, false);
  if (!restored)
    stopping = train::EarlyStopping({.monitor = "figure", .patience = 3, .mode = MonitorMode::Min});
  train::LambdaCallback writer({.on_epoch_end = [&](int64_t epoch, Logs& logs) {
    logs.set("figure", run.figures.at(size_t(epoch)));
  }});
  const auto history = run.model.fit(
      small_data(4).batch(4),
      {.epochs = 7, .callbacks = {watcher, writer, stopping}, .verbose = Verbose::Silent});
  CHECK(history.epoch.size() == 5);
  CHECK(stopping.stopped_epoch() == 4);
  CHECK(stopping.best_epoch() == 1);
  CHECK(stopping.best() == 3);
  CHECK(run.net.variables()[0].value().to_vector() == weights[restored ? 1 : 4]);
  CHECK(weights[1] != weights[4]);
}

TEST_CASE("early stopping knows directions, baselines and small changes", "[train][callbacks]") {
  using train::MonitorMode;
  const auto epochs = [](std::vector<double> figures, train::EarlyStoppingOptions options) {
    Scripted run(std::move(figures));
    if (options.mode == MonitorMode::Auto && options.monitor == "figure")
      options.mode = MonitorMode::Min;
    if (options.monitor == "figure") return run.fit(train::EarlyStopping(options)).epoch.size();
    std::vector<double> values = run.figures;
    train::LambdaCallback writer({.on_epoch_end = [&](int64_t epoch, Logs& logs) {
      logs.set(options.monitor, values.at(size_t(epoch)));
    }});
    return run.model
        .fit(small_data(4).batch(4), {.epochs = int64_t(values.size()),
                                      .callbacks = {writer, train::EarlyStopping(options)},
                                      .verbose = Verbose::Silent})
        .epoch.size();
  };
  CHECK(epochs({1, 2, 3, 4}, {.monitor = "figure"}) == 2);
  CHECK(epochs({1, 2, 3, 4}, {.monitor = "figure", .mode = MonitorMode::Max}) == 4);
  CHECK(epochs({1, 2, 3, 4}, {.monitor = "val_loss"}) == 2);
  CHECK(epochs({4, 3.95, 3.9, 3}, {.monitor = "figure", .min_delta = 0.2}) == 2);
  CHECK(epochs({4, 3, 3, 3, 3}, {.monitor = "figure", .patience = 2}) == 4);
  CHECK(epochs({4, 3, 3, 3, 3}, {.monitor = "figure", .patience = 2, .baseline = 1.5}) == 3);
  CHECK(epochs({1, 2, 3, 3, 4}, {.monitor = "figure", .start_from_epoch = 2}) == 4);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(epochs({nan, nan, nan, 1}, {.monitor = "figure", .patience = 2}) == 3);
}

TEST_CASE("the learning rate falls on a plateau", "[train][callbacks]") {
  Scripted run({3, 2, 2, 2, 2, 2, 2});
  const auto history = run.fit(train::ReduceLROnPlateau({.monitor = "figure",
                                                         .factor = 0.5,
                                                         .patience = 2,
                                                         .mode = train::MonitorMode::Min,
                                                         .cooldown = 1,
                                                         .min_lr = 0.2}));
  // Two epochs without improvement halve it; the one that cools down counts as the first again.
  CHECK(history.history.at("learning_rate") ==
        std::vector<double>{0.5, 0.5, 0.5, 0.5, 0.25, 0.25, double(0.2f)});
  CHECK(run.optimizer.learning_rate() == Approx(0.2));
  CHECK_THROWS_AS(train::ReduceLROnPlateau({.factor = 1}), InvalidArgumentError);
  CHECK_THROWS_SAYING(train::ReduceLROnPlateau({.patience = -1}), InvalidArgumentError, "-1");
  CHECK_THROWS_SAYING(train::EarlyStopping({.patience = -2}), InvalidArgumentError, "-2");
}

TEST_CASE("a schedule sets the rate of every epoch", "[train][callbacks]") {
  Scripted run({1, 1, 1});
  const auto by_rate = run.fit(train::LearningRateScheduler(
      [](int64_t epoch, double rate) { return epoch ? rate / 2 : 1.0; }));
  CHECK(by_rate.history.at("learning_rate") == std::vector<double>{1, 0.5, 0.25});
  const auto by_epoch =
      run.fit(train::LearningRateScheduler([](int64_t epoch) { return double(epoch + 1); }));
  CHECK(by_epoch.history.at("learning_rate") == std::vector<double>{1, 2, 3});
  check_throws<InvalidArgumentError>(
      [&] { run.fit(train::LearningRateScheduler([](int64_t) { return 0.0 / 0.0; })); }, "epoch 0");
}

TEST_CASE("a loss that is no number ends the training", "[train][callbacks]") {
  auto net = small_net();
  optim::SGD optimizer({.learning_rate = 1e30});
  Model model(net);
  model.compile({.optimizer = optimizer, .loss = [](const Tensor& y, const Tensor& prediction) {
                   return nn::mean_squared_error(y * ones({1, 3}), prediction);
                 }});
  int batches = 0;
  train::LambdaCallback counter({.on_train_batch_end = [&](int64_t, Logs&) { ++batches; }});
  const auto rows = data::Dataset::from_tensor_slices(ones({40, 5}), ones({40, 1}));
  model.fit(
      rows.batch(4),
      {.epochs = 5, .callbacks = {train::TerminateOnNaN(), counter}, .verbose = Verbose::Silent});
  CHECK(batches >= 2);
  CHECK(batches < 10);
}

TEST_CASE("the CSV file may be a pipe", "[train][callbacks]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "log.csv";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  Scripted({0.5, 0.25}).fit(train::CSVLogger({.filename = path}));
  std::string text(4096, '\0');
  text.resize(size_t(std::max<ssize_t>(0, ::read(reader, text.data(), text.size()))));
  ::close(reader);
  CHECK(text.starts_with("epoch,figure,loss,val_figure,val_loss\r\n0,0.5,"));
  CHECK(text.find("\n1,0.25,") != text.npos);
}

TEST_CASE("the CSV file has a column for each figure", "[train][callbacks]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "log.csv";
  Scripted run({0.5, 0.25});
  const auto written = [&](train::CSVLoggerOptions options) {
    const auto history = run.fit(train::CSVLogger(options));
    std::vector<std::string> lines = file_lines(path);
    const std::string start = str_cat("1", options.separator, "0.25", options.separator);
    CHECK(lines.back().starts_with(start));
    CHECK(lines.back().ends_with(str_cat(options.separator, "NA", options.separator, "NA\r")));
    CHECK(std::stod(lines.back().substr(start.size())) == history.history.at("loss")[1]);
    return lines;
  };
  CHECK(written({.filename = path}).at(0) == "epoch,figure,loss,val_figure,val_loss\r");
  CHECK(written({.filename = path}).size() == 3);
  const auto appended = written({.filename = path, .append = true});
  REQUIRE(appended.size() == 5);
  CHECK(appended[3].starts_with("0,0.5,"));
  CHECK(written({.filename = path, .separator = ";"}).at(0) ==
        "epoch;figure;loss;val_figure;val_loss\r");
  CHECK_THROWS_SAYING(run.fit(train::CSVLogger({.filename = directory / "no/log.csv"})),
                      PermissionDeniedError, "no/log.csv");
  run.model.fit(small_data(4).batch(4), {.epochs = 2,
                                         .validation_data = small_data(4).batch(4),
                                         .validation_freq = 2,
                                         .callbacks = {train::CSVLogger({.filename = path})},
                                         .verbose = Verbose::Silent});
  const auto lines = file_lines(path);
  CHECK(lines.at(0) == "epoch,loss,val_loss\r");
  CHECK(lines.at(1).ends_with(",NA\r"));
  CHECK_FALSE(lines.at(2).ends_with(",NA\r"));
}

TEST_CASE("the CSV file quotes names and writes numbers as Keras does", "[train][callbacks]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "log.csv";
  const Logs odd{{"a,b", 0.1},     {"say \"x\"", 1e16},     {"semi;colon", 123456789012345680.0},
                 {" space", 1e-5}, {"line\nbreak", 1e-4},   {"quote'", -0.0},
                 {"big", 1e15},    {"float", double(0.1f)}, {"nothing", std::nan("")}};
  // What csv.DictWriter of Keras 3.15 wrote, but for the loss.
  const std::string names =
      "epoch, space,\"a,b\",big,figure,float,\"line\nbreak\",loss,nothing,quote',\"say \"\"x\"\"\","
      "semi;colon,val_ space,\"val_a,b\",val_big,val_figure,val_float,\"val_line\nbreak\",val_loss,"
      "val_nothing,val_quote',\"val_say \"\"x\"\"\",val_semi;colon\r\n";
  const std::string row = "0,1e-05,0.1,1000000000000000.0,0.5,0.10000000149011612,0.0001,";
  const std::string rest =
      ",nan,-0.0,1e+16,1.2345678901234568e+17,NA,NA,NA,NA,NA,NA,NA,NA,NA,NA,NA\r\n";
  Scripted({0.5}).fit(train::CSVLogger({.filename = path}), odd);
  const std::string once = file_text(path);
  CHECK(once.starts_with(names + row));
  CHECK(once.ends_with(rest));
  Scripted({0.5}).fit(train::CSVLogger({.filename = path, .append = true}), odd);
  CHECK(file_text(path).starts_with(once + row));
  CHECK(file_text(path).ends_with(rest));
  Scripted({0.5}).fit(train::CSVLogger({.filename = path, .separator = ";"}), odd);
  CHECK(file_text(path).starts_with("epoch; space;a,b;big;figure;float;\"line\nbreak\";loss;"));
  CHECK_THAT(file_text(path), Contains(";\"semi;colon\";"));
  for (const char* separator : {"", "::", "\"", "\n"})  // Python's csv refuses the first two
    CHECK_THROWS_AS(train::CSVLogger({.filename = path, .separator = separator}),
                    InvalidArgumentError);
}

TEST_CASE("figures are filled into a path", "[train][callbacks]") {
  const Logs values{{"epoch", 3}, {"val_loss", 0.1234}};
  CHECK(train::format_figures("ckpt/{epoch:02d}-{val_loss:.2f}", values) == "ckpt/03-0.12");
  CHECK(train::format_figures("{epoch}{{x}}{val_loss}{val_loss:8.3e}", values) ==
        "3{x}0.12341.234e-01");
  CHECK_THROWS_SAYING(train::format_figures("{batch}", values), InvalidArgumentError,
                      "Failed to format this callback filepath");
  for (const char* bad :
       {"{epoch:s}", "{epoch:%n}", "{epoch", "{epoch:1.2.3f}", "{epoch:999999999d}"})
    CHECK_THROWS_AS(train::format_figures(bad, values), InvalidArgumentError);
}

TEST_CASE("files have decimal points in text and name under a locale with a comma",
          "[train][callbacks]") {
  const TemporaryDirectory directory;
  const CommaLocale locale;
  const std::string path = directory / "log.csv";
  Scripted({1234.5}).fit(train::CSVLogger({.filename = path, .separator = ";"}));
  const std::string text = file_text(path);
  CHECK_THAT(text, Contains("1234.5"));
  CHECK_THAT(text, !Contains(","));
  const train::Logs values{{"loss", 1234.5}};
  CHECK(train::format_figures("{loss:.2f} {loss:e} {loss}", values) ==
        "1234.50 1.234500e+03 1234.5");
}

TEST_CASE("the model is saved at every epoch, or when it is the best", "[train][callbacks]") {
  const TemporaryDirectory directory;
  {
    Scripted run({3, 2});
    run.fit(train::ModelCheckpoint({.filepath = directory / "all/{epoch:03d}-{figure:.1f}"}));
    CHECK(names_in(directory / "all") ==
          std::set<std::string>{"checkpoint", "001-3.0.index", "001-3.0.data-00000-of-00001",
                                "002-2.0.index", "002-2.0.data-00000-of-00001"});
    CHECK(train::latest_checkpoint(directory / "all") == directory / "all/002-2.0");
    auto net = small_net();
    optim::SGD optimizer;
    train::Checkpoint(net, optimizer).restore(directory / "all/002-2.0").assert_consumed();
    CHECK(optimizer.iterations() == 2);
    CHECK(net.variables()[0].value().to_vector() == run.net.variables()[0].value().to_vector());
  }
  Scripted run({3, 4, 2.5, 2.7, 2});
  train::ModelCheckpoint best({.filepath = directory / "best/{epoch}",
                               .monitor = "figure",
                               .save_best_only = true,
                               .save_weights_only = true,
                               .mode = train::MonitorMode::Min,
                               .initial_value_threshold = 2.9});
  run.fit(best);
  CHECK(best.best() == 2);
  CHECK(names_in(directory / "best") == std::set<std::string>{"checkpoint", "3.index",
                                                              "3.data-00000-of-00001", "5.index",
                                                              "5.data-00000-of-00001"});
  for (const std::string& key : train::BundleReader(directory / "best/5").keys())
    CHECK(key.find("optimizer") == std::string::npos);
}

TEST_CASE("the model is saved every few batches over epochs", "[train][callbacks]") {
  const TemporaryDirectory directory;
  Scripted run({});
  run.model.fit(small_data(8).batch(2),
                {.epochs = 2,
                 .callbacks = {train::ModelCheckpoint(
                     {.filepath = directory / "{epoch}-{batch}", .save_freq = 3})},
                 .verbose = Verbose::Silent});
  CHECK(fs::exists(directory / "1-3.index"));
  CHECK(fs::exists(directory / "2-2.index"));
  CHECK(names_in(directory.path()).size() == 5);
  CHECK_THROWS_AS(train::ModelCheckpoint({.filepath = "x", .save_freq = false}),
                  InvalidArgumentError);
}

TEST_CASE("workers decide the same, and the chief alone leaves files (115)", "[train][callbacks]") {
  const TemporaryDirectory directory;
  std::vector<size_t> epochs(3);
  std::vector<double> rates(3);
  run_clean(3, 1, [&](Strategy& strategy, int worker) {
    const auto scope = strategy.scope();
    SmallModel model({.learning_rate = 1e-9}, false);  // no improvement beyond rounding
    const auto history =
        model.fit(small_data(30).shuffle(30, {.seed = 1}).batch(6),
                  {.epochs = 9,
                   .validation_data = small_data(7).batch(6),
                   .callbacks = {train::ReduceLROnPlateau({.patience = 2}),
                                 train::EarlyStopping({.min_delta = 1e-3, .patience = 4}),
                                 train::ModelCheckpoint({.filepath = directory / "{epoch}"}),
                                 train::CSVLogger({.filename = directory / "log.csv"})},
                   .verbose = Verbose::Silent});
    epochs[size_t(worker)] = history.epoch.size();
    rates[size_t(worker)] = double(model.optimizer().learning_rate());
  });
  CHECK(epochs == std::vector<size_t>(3, 5));
  CHECK(rates == std::vector<double>(3, rates[0]));
  CHECK(rates[0] == Approx(1e-11));
  CHECK(file_lines(directory / "log.csv").size() == 6);
  for (const std::string& name : names_in(directory.path()))
    CHECK(name.find("workertemp") == std::string::npos);
  CHECK(names_in(directory.path()).size() == 12);  // 5 x 2, checkpoint, log
}
