#include <distribute/base/error.hpp>
#include <distribute/strategy/one_device_strategy.hpp>
#include <distribute/train/run_report.hpp>

#include <tests/support/catch.hpp>
#include <tests/support/comma_locale.hpp>
#include <tests/support/file_text.hpp>
#include <tests/support/memory_file.hpp>
#include <tests/support/temporary_directory.hpp>

#include <unistd.h>
#include <nlohmann/json.hpp>

using namespace distribute;
using train::ReportTarget;
using train::RunReport;

namespace {

RunReport report() {
  RunReport report;
  report.strategy = "mirrored";
  report.steps = 7;
  report.loss = 0.5;
  return report;
}

/// Standard output is this file while it lives.
class StandardOutput {
 public:
  explicit StandardOutput(const std::string& path) : file_(std::fopen(path.c_str(), "w")) {
    std::fflush(stdout);
    ::dup2(::fileno(file_), STDOUT_FILENO);
  }
  ~StandardOutput() {
    std::fflush(stdout);
    ::dup2(before_, STDOUT_FILENO);
    ::close(before_);
    std::fclose(file_);
  }

 private:
  int before_ = ::dup(STDOUT_FILENO);
  std::FILE* file_;
};

}  // namespace

TEST_CASE("a report has null for tests that were not made and no field for what was not measured",
          "[train][run_report]") {
  auto json = nlohmann::json::parse(to_json(report()));
  CHECK(json.size() == 17);
  CHECK(json.at("strategy") == "mirrored");
  CHECK(json.at("steps") == 7);
  CHECK(json.at("test_loss").is_null());
  for (const char* name : {"input_wait_share", "test_perplexity", "tokens_per_second"})
    CHECK(!json.contains(name));
  RunReport tested = report();
  tested.test_loss = 0.25;
  tested.test_top_5_accuracy = 0.75;
  tested.test_perplexity = 12.5;
  tested.tokens_per_second = 4000;
  json = nlohmann::json::parse(to_json(tested));
  CHECK(json.at("test_loss") == 0.25);
  CHECK(json.at("test_top_5_accuracy") == 0.75);
  CHECK(json.at("test_perplexity") == 12.5);
  CHECK(json.at("tokens_per_second") == 4000);
}

TEST_CASE("the speed of a report leaves out how long the start took", "[train][run_report]") {
  MemoryFile output;
  double now = 0;
  train::Progress progress({.batch_size = 50, .out = output.file, .clock = [&] { return now; }});
  for (int64_t step = 1; step <= 30; ++step) {
    now += step <= 10 ? 1 : 0.01;
    progress.step_done(step, {});
  }
  RunReport timed = report();
  add_speed(timed, progress);
  CHECK(timed.images_per_second == Approx(5000));
  CHECK(timed.step_ms_p50 == Approx(10));
  CHECK(timed.step_ms_p95 == Approx(10));
}

TEST_CASE("a report goes to a file as a whole", "[train][run_report]") {
  const TemporaryDirectory out;
  ReportTarget(out / "run.json").write(report());
  CHECK(file_text(out / "run.json") == to_json(report()));
  std::ofstream(out / "file") << "x";
  CHECK_THROWS_AS(ReportTarget(out / "file/run.json").write(report()), Error);
  CHECK(file_text(out / "file") == "x");
}

TEST_CASE("a report on standard output stands alone there", "[train][run_report]") {
  const TemporaryDirectory out;
  {
    const StandardOutput redirected(out / "stdout");
    {
      ReportTarget target("-");
      std::printf("this line goes to standard error\n");
      target.write(report());
      std::printf("this one, too\n");
    }
    std::printf("as before\n");
  }
  CHECK(file_text(out / "stdout") == to_json(report()) + "as before\n");
}

TEST_CASE("a report is JSON under a locale with a comma", "[train][run_report]") {
  const CommaLocale locale;
  RunReport figures = report();
  figures.images_per_second = 12345.5;
  figures.test_accuracy = 0.975;
  const auto json = nlohmann::json::parse(train::to_json(figures));
  CHECK(json.at("images_per_second") == 12345.5);
  CHECK(json.at("test_accuracy") == 0.975);
  CHECK(json.at("loss") == 0.5);
}

TEST_CASE("a report has the device of a strategy and the memory it took", "[train][run_report]") {
  RunReport report;
  OneDeviceStrategy strategy("/cpu:0");
  add_device(report, strategy);
  add_memory(report, strategy);
  CHECK(report.device == "cpu");
  CHECK(report.peak_rss_bytes > 1'000'000);
  CHECK(report.peak_gpu_bytes == 0);
}
