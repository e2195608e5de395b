#pragma once
/// Times the steps of a training and shows how it goes: a bar on a terminal, else now and then a
/// line.

#include <distribute/base/config.hpp>
#include <distribute/train/callback.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace distribute::train {

struct ProgressOptions {                    // options of Progress
  int64_t first_step = 0;                   // done before
  std::optional<int64_t> total_steps = {};  // none: not known, so no estimate of the time left
  int64_t batch_size = 0;                   // examples of a step; 0: steps are counted
  std::string unit = "images";              // of the examples
  int64_t steps_per_line = 100;             // where the output is no terminal
  bool prints = true;                       // the chief does
  std::FILE* out = stdout;
  std::optional<bool> terminal = {};   // none: what `out` is
  std::function<double()> clock = {};  // in seconds; unset: the system's steady one
};

/// Times steps and prints a bar or a line every 100 steps. One thread.
class Progress {
 public:
  explicit Progress(ProgressOptions options);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Call after every step; `step` counts from 1. Prints "step 100  loss 0.2312  5213 images/s
  /// eta 0:42", where the figures are those of `values`.
  void step_done(int64_t step, const Logs& values);
  /// Ends the bar's line, if there is one.
  void finish();
  /// Examples of each step from now on; 0: steps are counted.
  void set_batch_size(int64_t examples) { options_.batch_size = examples; }

  /// The speed of the median step; without batch_size steps per second; 0 before the first step.
  double examples_per_second() const;
  /// A quantile of the steps after the first ten (of all when there are fewer); 0 without any.
  double step_seconds(double quantile) const;
  int64_t steps_timed() const { return int64_t(seconds_.size()); }

 private:
  double now() const;
  bool is_due(int64_t step, double time) const;
  std::string line(int64_t step, const Logs& values, double time) const;

  ProgressOptions options_;
  double started_, last_time_, last_draw_ = 0;
  bool line_open_ = false;
  std::vector<double> seconds_;
};

/// "1:02" for 62 seconds, "1:01:02" for an hour more.
std::string clock_text(double seconds);
/// "  loss 0.2312  accuracy 0.9150": four decimals, or three digits of small and large numbers.
std::string figures_text(const Logs& values);

}  // namespace distribute::train
