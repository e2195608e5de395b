#include "run_report.hpp"

#include "process_stats.hpp"

#include <distribute/base/error.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>

#include <unistd.h>
#include <nlohmann/json.hpp>

namespace examples {

namespace {

double now() {
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  const size_t index = std::min(size_t(q * double(values.size())), values.size() - 1);
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(index), values.end());
  return values[index];
}

std::vector<double> after_warm_up(const std::vector<double>& seconds) {
  const size_t skipped = seconds.size() > 10 ? 10 : 0;
  return {seconds.begin() + std::ptrdiff_t(skipped), seconds.end()};
}

std::string clock_text(double seconds) {
  const auto total = int64_t(std::lround(seconds));
  char text[32];
  std::snprintf(text, sizeof(text), "%lld:%02lld", (long long)(total / 60),
                (long long)(total % 60));
  return text;
}

}  // namespace

void write_json(const RunReport& r, const std::string& target) {
  const auto number_or_null = [](const std::optional<double>& value) {
    return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
  };
  nlohmann::ordered_json object{{"strategy", r.strategy},
                                {"device", r.device},
                                {"replicas", r.replicas},
                                {"workers", r.workers},
                                {"policy", r.policy},
                                {"global_batch", r.global_batch},
                                {"steps", r.steps},
                                {"images_per_second", r.images_per_second},
                                {"step_ms_p50", r.step_ms_p50},
                                {"step_ms_p95", r.step_ms_p95},
                                {"seconds_to_first_step", r.seconds_to_first_step},
                                {"loss", r.loss},
                                {"test_loss", number_or_null(r.test_loss)},
                                {"test_accuracy", number_or_null(r.test_accuracy)},
                                {"parameters", r.parameters},
                                {"peak_rss_bytes", r.peak_rss_bytes},
                                {"peak_gpu_bytes", r.peak_gpu_bytes}};
  if (r.test_top_5_accuracy) object["test_top_5_accuracy"] = *r.test_top_5_accuracy;
  const std::string text = object.dump(2) + "\n";
  if (target == "-") {
    std::fputs(text.c_str(), stdout);
    return;
  }
  std::ofstream file(target, std::ios::trunc);
  file << text << std::flush;
  if (!file) throw distribute::UnavailableError("cannot write the JSON file " + target);
}

void require_writable(const char* flag, const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (access(directory.c_str(), W_OK) != 0)
    throw distribute::PermissionDeniedError("--" + std::string(flag) + "=" + path + ": directory " +
                                            directory + " is missing or cannot be written");
}

Progress::Progress(int64_t first_step, int64_t total_steps, int64_t global_batch, bool prints)
    : first_step_(first_step),
      total_steps_(total_steps),
      global_batch_(global_batch),
      prints_(prints),
      terminal_(isatty(STDOUT_FILENO)),
      last_time_(now()),
      started_(last_time_) {}

double Progress::images_per_second() const {
  const std::vector<double> seconds = after_warm_up(step_seconds_);
  const double median = quantile(seconds, 0.5);
  return median > 0 ? double(global_batch_) / median : 0;
}

void Progress::step_done(int64_t step, double loss) {
  const double time = now();
  step_seconds_.push_back(time - last_time_);
  last_time_ = time;
  if (step_seconds_.size() == 1) first_step_seconds_ = seconds_since_process_start();
  if (!prints_) return;
  const bool last = step == total_steps_;
  if (terminal_ ? time - last_draw_ < 0.1 && !last : step % 100 != 0 && !last) return;
  last_draw_ = time;
  const double done = double(step - first_step_);
  const double eta = (time - started_) / done * double(total_steps_ - step);
  if (terminal_) {
    constexpr int kWidth = 30;
    const int filled = int(kWidth * step / total_steps_);
    std::printf("\r[%s%s] ", std::string(size_t(filled), '=').c_str(),
                std::string(size_t(kWidth - filled), ' ').c_str());
  }
  const double rate = images_per_second();
  std::printf("step %lld  loss %.4f  %.*f images/s  eta %s", (long long)step, loss, rate < 100,
              rate, clock_text(eta).c_str());
  std::fputs(terminal_ ? "  " : "\n", stdout);
  line_open_ = terminal_;
  std::fflush(stdout);
}

void Progress::finish() {
  if (line_open_) std::fputs("\n", stdout);
  line_open_ = false;
  std::fflush(stdout);
}

void Progress::fill(RunReport& report) const {
  const std::vector<double> seconds = after_warm_up(step_seconds_);
  report.images_per_second = images_per_second();
  report.step_ms_p50 = quantile(seconds, 0.5) * 1e3;
  report.step_ms_p95 = quantile(seconds, 0.95) * 1e3;
  report.seconds_to_first_step = first_step_seconds_;
}

}  // namespace examples
