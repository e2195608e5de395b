#include <distribute/base/error.hpp>
#include <distribute/train/run_report.hpp>
#include <tests/support/comma_locale.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/temporary_directory.hpp>
#include <tests/train/small_model.hpp>

#include <regex>

#include <nlohmann/json.hpp>

using namespace distribute;
using namespace distribute::train;

namespace {

/// What Katib's collector makes of a line, by the regular expression of its documentation.
std::map<std::string, double> katib_reads(const std::string& line) {
  static const std::regex pattern(R"(([\w|-]+)\s*=\s*([+-]?\d*(\.\d+)?([Ee][+-]?\d+)?))");
  std::map<std::string, double> found;
  for (std::sregex_iterator at(line.begin(), line.end(), pattern), end; at != end; ++at)
    found[(*at)[1]] = std::stod((*at)[2]);
  return found;
}

/// A variable of the process while it lives.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    ::setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("Katib's regular expression finds every figure", "[train][metric_lines]") {
  const Logs logs{{"loss", 0.3},   {"val_accuracy", 0.98}, {"rate", 1e-7},
                  {"big", 1.5e20}, {"negative", -2.25},    {"whole", 3}};
  const auto found = katib_reads(metric_line(logs));
  CHECK(found.size() == logs.size());
  for (const auto& [name, value] : logs) CHECK(found.at(name) == Approx(value));
}

TEST_CASE("names are made readable, and values that are none are left out",
          "[train][metric_lines]") {
  CHECK(metric_line({{"test/top 5:acc", 0.5}}) == "test_top_5_acc=0.5");
  CHECK(metric_line({{"loss", std::nan("")}, {"accuracy", 1}}) == "accuracy=1");
  CHECK(metric_line({{"loss", INFINITY}}) == "");
  CHECK(metric_line({}) == "");
}

TEST_CASE("fit prints a line for each epoch", "[train][metric_lines]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "out";
  SmallModel model({.learning_rate = 0.1}, false);
  std::FILE* out = std::fopen(path.c_str(), "w");
  const auto history = model.fit(
      small_data(12).batch(4),
      {.epochs = 2, .callbacks = {MetricLines({.out = out})}, .verbose = Verbose::Silent});
  std::fclose(out);
  std::ifstream file(path);
  for (size_t epoch = 0; epoch < 2; ++epoch) {
    std::string line;
    REQUIRE(std::getline(file, line));
    CHECK(katib_reads(line).at("loss") == Approx(history.history.at("loss")[epoch]));
  }
}

TEST_CASE("a trial of Vertex AI gets its metric in the tuner's file", "[train][metric_lines]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "hypertune/output.metrics";
  const ScopedVariable file("CLOUD_ML_HP_METRIC_FILE", path),
      tag("CLOUD_ML_HP_METRIC_TAG", "accuracy");
  report_hypertune({{"accuracy", 0.5}}, 10);
  CHECK_FALSE(std::ifstream(path).good());  // no trial
  const ScopedVariable trial("CLOUD_ML_TRIAL_ID", "7");
  report_hypertune({{"accuracy", 0.5}}, 10);
  report_hypertune({{"loss", 0.5}}, 11);  // not that metric
  report_hypertune({{"accuracy", 0.75}}, 20);
  std::ifstream lines(path);
  std::string first, second, third;
  REQUIRE((std::getline(lines, first) && std::getline(lines, second)));
  CHECK_FALSE(std::getline(lines, third));
  const auto entry = nlohmann::json::parse(second);
  CHECK(entry.at("trial") == "7");
  CHECK(entry.at("accuracy") == "0.75");
  CHECK(entry.at("global_step") == "20");
  CHECK(entry.at("timestamp").is_number());
  const ScopedVariable nowhere("CLOUD_ML_HP_METRIC_FILE", "/proc/none/x");
  CHECK_THROWS_SAYING(report_hypertune({{"accuracy", 1}}, 1), PermissionDeniedError,
                      "CLOUD_ML_HP_METRIC_FILE: cannot write /proc/none/x");
  SmallModel model({.learning_rate = 0.1}, false);
  CHECK_THROWS_SAYING(
      model.fit(small_data(12).batch(4), {.epochs = 1, .callbacks = {MetricLines()}}),
      PermissionDeniedError, "CLOUD_ML_HP_METRIC_FILE: cannot write /proc/none/x");
  CHECK(model.optimizer().iterations() == 0);  // before the training
}

TEST_CASE("a trial without a tag reports each value under its name", "[train][metric_lines]") {
  const TemporaryDirectory directory;
  const std::string path = directory / "output.metrics";
  const ScopedVariable file("CLOUD_ML_HP_METRIC_FILE", path), trial("CLOUD_ML_TRIAL_ID", "7");
  report_hypertune({{"val_accuracy", 0.5}, {"loss", 0.25}}, 10);
  std::ifstream lines(path);
  std::map<std::string, std::string> read;
  for (std::string line; std::getline(lines, line);) {
    const auto entry = nlohmann::json::parse(line);
    CHECK(entry.size() == 4);
    for (const char* name : {"val_accuracy", "loss"})
      if (entry.contains(name)) read[name] = entry.at(name);
  }
  CHECK(read == std::map<std::string, std::string>{{"val_accuracy", "0.5"}, {"loss", "0.25"}});
}

TEST_CASE("metric lines keep their decimal point under any locale", "[train][metric_lines]") {
  const CommaLocale locale;
  CHECK(train::metric_line({{"loss", 0.5}}) == "loss=0.5");
}
