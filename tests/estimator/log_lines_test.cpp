/// The lines of estimators and sessions against those that TensorFlow 2.15 printed for the same
/// programs: tensorflow_lines.py wrote tensorflow_lines.txt.

#include <distribute/estimator/detail/log_lines.hpp>
#include <distribute/estimator/estimator.hpp>
#include <distribute/estimator/train_and_evaluate.hpp>
#include <distribute/optim/sgd.hpp>
#include <distribute/saved_model.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/memory_file.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <regex>

using namespace distribute;
using namespace distribute::train;

namespace {

using Lines = std::vector<std::string>;

/// Lines about graphs, which this library does not have, and those that docs/estimator.md lists.
const char* const kLeftOut =
    "(Using config:|Calling model_fn|Done calling model_fn|Graph was finalized|Running "
    "local_init_op|Done running local_init_op|Create CheckpointSaverHook|Calling checkpoint "
    "listeners|Signatures INCLUDED|Assets added to graph|No assets to write|Not using Distribute "
    "Coordinator|Saving 'checkpoint_path' summary|Warm-starting with|Warm-starting variables only|"
    "Warm-started ).*";

/// Replaces what depends on clocks and folders.
std::string without_clocks(std::string line, const std::string& directory) {
  const std::pair<const char*, const char*> changes[] = {
      {"\\d{4}-\\d\\d-\\d\\d([T-])\\d\\d:\\d\\d:\\d\\d", "DATE$1TIME"},
      {"global_step/sec: [0-9.e+-]+$", "global_step/sec: NUMBER"},
      {"\\(\\d+\\.\\d{3} sec\\)", "(NUMBER sec)"},
      {"Inference Time : \\d+\\.\\d{5}s", "Inference Time : NUMBERs"},
      {"/(temp-)?\\d{10}/", "/VERSION/"}};
  if (!directory.empty())
    for (size_t at; (at = line.find(directory)) != std::string::npos;)
      line.replace(at, directory.size(), "DIR");
  for (const auto& [pattern, text] : changes)
    line = std::regex_replace(line, std::regex(pattern), text);
  return line;
}

/// Whether `line` is the save of what was just restored, which this library leaves out.
bool saves_again(const std::string& line, const std::string& before) {
  std::smatch restored;
  return std::regex_match(before, restored, std::regex("Restoring parameters from (.*)-(\\d+)")) &&
         line == "Saving checkpoints for " + restored.str(2) + " into " + restored.str(1) + ".";
}

Lines comparable(const std::string& text, const std::string& directory) {
  const std::regex left_out(kLeftOut);
  std::istringstream in(text);
  Lines lines;
  for (std::string line; std::getline(in, line);) {
    line = without_clocks(line, directory);
    if (std::regex_match(line, left_out)) continue;
    if (lines.empty() || !saves_again(line, lines.back())) lines.push_back(line);
  }
  return lines;
}

InputData ones_in(int64_t batch, bool repeats) {
  const auto data = data::Dataset::from_tensor_slices(ones({12, 1}), ones({12, 1}));
  return repeats ? data.batch(batch).repeat() : data.batch(batch);
}
InputData train_data() { return ones_in(12, true); }
InputData test_data() { return ones_in(4, false); }

/// One weight, whose distance from 1 each step halves.
struct Job {
  nn::Sequential net{
      nn::Dense({.units = 1, .use_bias = false, .kernel_initializer = nn::initializers::zeros()})};
  optim::SGD optimizer{{.learning_rate = 0.25}};
  Model model{net};
  Estimator estimator;

  explicit Job(EstimatorOptions options) : estimator(compiled(), std::move(options)) {}
  Model& compiled() {
    model.compile({.optimizer = optimizer,
                   .loss = nn::MeanSquaredError(),
                   .metrics = {nn::metrics::MeanAbsoluteError("mae")}});
    return model;
  }
  void train_and_evaluate(double throttle_secs) {
    train::train_and_evaluate(
        estimator, {.input_fn = train_data, .max_steps = 8},
        {.input_fn = test_data,
         .steps = 2,
         .exporters = {LatestExporter({.name = "latest"}), FinalExporter({.name = "final"}),
                       BestExporter({.name = "best"})},
         .start_delay_secs = 0,
         .throttle_secs = throttle_secs});
  }
};

/// The programs of tensorflow_lines.py.
struct Programs {
  std::string directory;
  std::FILE* out;

  void begin(const char* name) const { train_internal::print_line(out, str_cat("=== ", name)); }
  EstimatorOptions options(const char* name, SecondsOrSteps save = {.secs = 600}) const {
    return {.model_dir = directory + "/" + name,
            .save_checkpoints = save,
            .log_step_count_steps = 3,
            .out = out};
  }
  void train() const;
  void evaluate() const;
  void session(int64_t steps) const;
};

void Programs::train() const {
  Job first(options("first"));
  begin("train");
  first.estimator.train(train_data, {.max_steps = 7});
  begin("train again");
  first.estimator.train(train_data, {.max_steps = 7});
  begin("train two steps more");
  first.estimator.train(train_data, {.steps = 2});
  begin("evaluate");
  first.estimator.evaluate(test_data);
  begin("evaluate by name");
  first.estimator.evaluate(test_data, {.steps = 2, .name = "test"});
  begin("evaluate 25 batches");
  first.estimator.evaluate(train_data, {.steps = 25});
  begin("predict");
  first.estimator.predict(test_data);
  begin("export");
  first.estimator.export_saved_model(directory + "/models");
  begin("warm start");
  EstimatorOptions warm = options("warm");
  warm.warm_start_from = directory + "/first";
  Job(warm).estimator.train(train_data, {.steps = 1});
}

void Programs::evaluate() const {
  Job second(options("second", {.steps = 5}));
  begin("train_and_evaluate");
  second.train_and_evaluate(0);
  begin("train_and_evaluate again");
  second.train_and_evaluate(0);
  begin("train_and_evaluate throttled");
  Job(options("third", {.steps = 5})).train_and_evaluate(600);
}

void Programs::session(int64_t steps) const {
  MonitoredTrainingSession session({.checkpoint_dir = directory + "/session",
                                    .hooks = {StopAtStepHook({.num_steps = steps})},
                                    .save_checkpoint = {.steps = 5},
                                    .log_step_count_steps = 3,
                                    .out = out});
  while (!session.should_stop()) session.run([] {});
}

}  // namespace

TEST_CASE("estimators and sessions print TensorFlow's lines", "[estimator][log_lines]") {
  const TemporaryDirectory directory;
  MemoryFile output;
  const Programs programs{directory.path(), output.file};
  programs.train();
  programs.evaluate();
  programs.begin("session");
  programs.session(7);
  programs.begin("session again");
  programs.session(2);
  const Lines wanted =
      comparable(file_text(testing::source_dir() + "/tests/estimator/tensorflow_lines.txt"), "");
  const Lines printed = comparable(output.str(), directory.path());
  REQUIRE(wanted.size() > 100);
  for (size_t i = 0; i < std::min(wanted.size(), printed.size()); ++i) {
    INFO("line " << i);
    REQUIRE(printed[i] == wanted[i]);
  }
  CHECK(printed.size() == wanted.size());
}

TEST_CASE("figures have the digits of a numpy.float32", "[estimator][log_lines]") {
  using train_internal::figure_text;
  CHECK(figure_text(1.1404545307159424) == "1.1404545");  // as tf.estimator printed it
  CHECK(figure_text(5.0 / 12) == "0.41666666");
  CHECK(figure_text(1e7) == "10000000.0");
  CHECK(figure_text(1e-5) == "1e-05");
  CHECK(figure_text(1e16) == "1e+16");
  CHECK(figure_text(1e-4) == "1e-04");
  CHECK(figure_text(123456789) == "123456790.0");
  CHECK(figure_text(-0.5) == "-0.5");
  CHECK(figure_text(0) == "0.0");
  CHECK(figure_text(std::nan("")) == "nan");
  CHECK(figure_text(-HUGE_VAL) == "-inf");
}

TEST_CASE("without a stream estimators and sessions print nothing", "[estimator][log_lines]") {
  const TemporaryDirectory directory;
  const Programs programs{directory.path(), nullptr};
  MemoryFile output;
  std::swap(output.file, stdout);
  programs.train();
  programs.evaluate();
  programs.session(4);
  std::swap(output.file, stdout);
  CHECK(output.str() == "");
}
