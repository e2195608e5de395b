#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/train/progress.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <unistd.h>

namespace distribute::train {

DISTRIBUTE_INLINE std::string clock_text(double seconds) {
  const long long total = std::llround(std::max(seconds, 0.0));
  char text[48];
  if (total >= 3600)
    std::snprintf(text, sizeof(text), "%lld:%02lld:%02lld", total / 3600, total / 60 % 60,
                  total % 60);
  else
    std::snprintf(text, sizeof(text), "%lld:%02lld", total / 60, total % 60);
  return text;
}

DISTRIBUTE_INLINE std::string figures_text(const Logs& values) {
  std::string all;
  for (const auto& [name, value] : values) {
    const double size = std::abs(value);
    char text[40];
    std::snprintf(text, sizeof(text), size != 0 && (size < 1e-3 || size >= 1e6) ? "%.3g" : "%.4f",
                  value);
    all += "  " + name + " " + text;
  }
  return all;
}

DISTRIBUTE_INLINE Progress::Progress(ProgressOptions options)
    : options_(std::move(options)), started_(now()), last_time_(started_) {
  // Open MPI 5 gives its ranks their own terminals and passes their output on.
  const bool captured = Environment().has("OMPI_COMM_WORLD_RANK") || Environment().has("PMIX_RANK");
  if (!options_.terminal) options_.terminal = ::isatty(::fileno(options_.out)) == 1 && !captured;
}

DISTRIBUTE_INLINE double Progress::now() const {
  if (options_.clock) return options_.clock();
  using namespace std::chrono;
  return duration<double>(steady_clock::now().time_since_epoch()).count();
}

DISTRIBUTE_INLINE double Progress::step_seconds(double quantile) const {
  const size_t skipped = seconds_.size() > 10 ? 10 : 0;
  std::vector<double> values(seconds_.begin() + std::ptrdiff_t(skipped), seconds_.end());
  if (values.empty()) return 0;
  const size_t index = std::min(size_t(quantile * double(values.size())), values.size() - 1);
  std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(index), values.end());
  return values[index];
}

DISTRIBUTE_INLINE double Progress::examples_per_second() const {
  const double median = step_seconds(0.5);
  return median > 0 ? double(std::max<int64_t>(options_.batch_size, 1)) / median : 0;
}

DISTRIBUTE_INLINE bool Progress::is_due(int64_t step, double time) const {
  if (!options_.prints) return false;
  if (options_.total_steps == step) return true;
  return *options_.terminal ? time - last_draw_ >= 0.1 : step % options_.steps_per_line == 0;
}

DISTRIBUTE_INLINE std::string Progress::line(int64_t step, const Logs& values, double time) const {
  const char* unit = options_.batch_size > 0 ? options_.unit.c_str() : "steps";
  const double rate = examples_per_second();
  char text[96];
  std::snprintf(text, sizeof(text), rate < 100 ? "  %.1f " : "  %.0f ", rate);
  std::string line = str_cat("step ", step, figures_text(values), text, unit, "/s");
  if (!options_.total_steps) return line;
  const double each = (time - started_) / double(std::max<int64_t>(step - options_.first_step, 1));
  return line + "  eta " + clock_text(each * double(*options_.total_steps - step));
}

DISTRIBUTE_INLINE void Progress::step_done(int64_t step, const Logs& values) {
  const double time = now();
  seconds_.push_back(time - last_time_);
  last_time_ = time;
  if (!is_due(step, time)) return;
  last_draw_ = time;
  std::string bar;
  if (*options_.terminal && options_.total_steps) {
    constexpr int64_t kWidth = 30;
    const int64_t filled =
        std::min(kWidth, kWidth * step / std::max<int64_t>(*options_.total_steps, 1));
    bar = "[" + std::string(size_t(filled), '=') + std::string(size_t(kWidth - filled), ' ') + "] ";
  }
  // After a shorter line the rest of the longer one is blanked.
  std::fprintf(options_.out, "%s%s%s%s", *options_.terminal ? "\r" : "", bar.c_str(),
               line(step, values, time).c_str(), *options_.terminal ? "\x1b[K" : "\n");
  line_open_ = *options_.terminal;
  std::fflush(options_.out);
}

DISTRIBUTE_INLINE void Progress::finish() {
  if (line_open_) std::fputs("\n", options_.out);
  line_open_ = false;
  std::fflush(options_.out);
}

}  // namespace distribute::train
