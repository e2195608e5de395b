#pragma once
#include <distribute/base/detail/seconds.hpp>
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/train/progress.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <sys/ioctl.h>
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

/// Formats " 45/90  50% [===============               ]".
DISTRIBUTE_INLINE std::string bar_text(int64_t step, int64_t total) {
  constexpr int64_t kWidth = 30;
  const int64_t part = std::clamp<int64_t>(step, 0, total), whole = std::max<int64_t>(total, 1);
  const std::string all = str_cat(total);
  char text[96];
  std::snprintf(text, sizeof(text), "%*lld/%s %3lld%% [", int(all.size()), (long long)step,
                all.c_str(), (long long)(100 * part / whole));
  std::string bar(size_t(kWidth * part / whole), '=');
  bar.resize(size_t(kWidth), ' ');
  return str_cat(text, bar, "]");
}

/// Returns the bar with fewer cells between its brackets, by `fewer` or down to five of them.
DISTRIBUTE_INLINE std::string narrower_bar(const std::string& bar, size_t fewer) {
  const size_t open = bar.find('[');
  if (open == std::string::npos) return bar;
  const size_t cells = bar.size() - open - 2;
  const size_t done = size_t(std::count(bar.begin() + std::ptrdiff_t(open), bar.end(), '='));
  const size_t left = std::max<size_t>(cells - std::min(cells, fewer), 5);
  std::string inside(done * left / cells, '=');
  inside.resize(left, ' ');
  return str_cat(bar.substr(0, open + 1), inside, "]");
}

/// Gives the width of a terminal; 0 if it is not known.
DISTRIBUTE_INLINE size_t columns_of(std::FILE* terminal) {
  winsize size{};
  return ::ioctl(::fileno(terminal), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

DISTRIBUTE_INLINE Progress::Progress(ProgressOptions options)
    : options_(std::move(options)),
      started_(now()),
      last_time_(started_),
      last_step_(options_.first_step),
      pace_(options_.first_step) {
  // Open MPI 5 gives its ranks their own terminals and passes their output on.
  const bool captured = Environment().has("OMPI_COMM_WORLD_RANK") || Environment().has("PMIX_RANK");
  if (!options_.terminal) options_.terminal = ::isatty(::fileno(options_.out)) == 1 && !captured;
}

DISTRIBUTE_INLINE double Progress::now() const {
  return options_.clock ? options_.clock() : base_internal::steady_seconds();
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
  const int64_t each = options_.steps_per_line;
  if (!*options_.terminal && each == 0) return false;
  // The last step of an epoch has the line of finish().
  if (options_.total_steps == step) return options_.is_whole_run || *options_.terminal;
  return *options_.terminal ? time - last_draw_ >= 0.1 : step / each > last_step_ / each;
}

DISTRIBUTE_INLINE std::string Progress::speed_text(double rate) const {
  char text[48];
  std::snprintf(text, sizeof(text), rate < 100 ? "  %.1f " : "  %.0f ", rate);
  return str_cat(text, options_.batch_size > 0 ? options_.unit : "steps", "/s");
}

DISTRIBUTE_INLINE std::string Progress::line(int64_t step, const Logs& values, double time) const {
  std::string line = figures_text(values) + speed_text(examples_per_second());
  if (!*options_.terminal || !options_.total_steps) line = str_cat("step ", step, line);
  if (!options_.total_steps) return line;
  const double each = (time - started_) / double(std::max<int64_t>(step - options_.first_step, 1));
  return line + "  eta " + clock_text(each * double(*options_.total_steps - step));
}

/// A bar stays in its line: it is narrower where the terminal has few columns, and what there are
/// no columns for is left out until the last line.
DISTRIBUTE_INLINE void Progress::draw(const std::string& bar, const std::string& text,
                                      bool ends_line) {
  const bool terminal = *options_.terminal;
  std::string line = bar + text;
  const size_t columns = terminal && !ends_line ? columns_of(options_.out) : 0;
  if (columns > 1 && line.size() >= columns) {
    line = narrower_bar(bar, line.size() - columns + 1) + text;
    line.resize(std::min(line.size(), columns - 1));
  }
  // After a shorter line the rest of the longer one is blanked.
  std::fprintf(options_.out, "%s%s%s%s", terminal ? "\r" : "", line.c_str(),
               terminal ? "\x1b[K" : "", ends_line ? "\n" : "");
  std::fflush(options_.out);
}

DISTRIBUTE_INLINE void Progress::step_done(int64_t step, const Logs& values) {
  const double time = now();
  seconds_.push_back(time - last_time_);
  last_time_ = time;
  examples_ += std::max<int64_t>(options_.batch_size, 1);
  if (options_.is_whole_run) pace_.step_done(step, options_.total_steps, values);
  const bool due = is_due(step, time);
  last_step_ = step;
  if (!due) return;
  last_draw_ = time;
  line_open_ = *options_.terminal;
  draw(line_open_ && options_.total_steps ? bar_text(step, *options_.total_steps) : "",
       line(step, values, time), !line_open_);
}

DISTRIBUTE_INLINE void Progress::finish() {
  if (line_open_) std::fputs("\n", options_.out);
  line_open_ = false;
  std::fflush(options_.out);
}

DISTRIBUTE_INLINE void Progress::finish(int64_t steps, const Logs& values) {
  if (!options_.prints) return;
  const int64_t total = options_.total_steps.value_or(steps);
  const double trained = last_time_ - started_;
  std::string text = "  " + clock_text(now() - started_);
  if (trained > 0) text += speed_text(double(examples_) / trained);
  line_open_ = false;
  draw(*options_.terminal ? bar_text(steps, total) : str_cat(steps, "/", total),
       text + figures_text(values), true);
}

}  // namespace distribute::train
