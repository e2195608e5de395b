#pragma once
/// Times the steps of a training and shows its progress: a bar on a terminal, else a line from time
/// to time.

#include <distribute/base/config.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/detail/run_pace.hpp>

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace distribute::train {

struct ProgressOptions {                    // options of Progress
  int64_t first_step = 0;                   // number of steps done before
  std::optional<int64_t> total_steps = {};  // unset: unknown, so the time left is not estimated
  int64_t batch_size = 0;                   // examples of a step; 0: shows steps
  std::string unit = "images";              // of the examples
  int64_t steps_per_line = 100;             // if the output is not a terminal; 0: no lines
  bool prints = true;                       // true on the chief
  std::FILE* out = stdout;
  std::optional<bool> terminal = {};   // unset: whether `out` is a terminal
  std::function<double()> clock = {};  // in seconds; unset: the system's steady one
  bool is_whole_run = true;  // not one epoch: the metrics' port has its loss and the time left
};

/// Times steps and prints a bar or a line every 100 steps. One thread.
class Progress {
 public:
  explicit Progress(ProgressOptions options);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Call after every step; `step` counts from 1. Prints "step 100  loss 0.2312  5213 images/s
  /// eta 0:42", where the figures are those of `values`; a bar begins with "100/300  33% [===".
  void step_done(int64_t step, const Logs& values);
  /// Ends the bar's line, if there is one.
  void finish();
  /// Prints a line about all `steps`, in the place of the bar if there is one: "90/90 100%
  /// [======]  0:03  5213 images/s  loss 0.2312".
  void finish(int64_t steps, const Logs& values);
  /// Sets the number of examples of each further step; 0: shows steps.
  void set_batch_size(int64_t examples) { options_.batch_size = examples; }

  /// Returns the speed of the median step; without batch_size in steps per second; 0 before the
  /// first step.
  double examples_per_second() const;
  /// Returns a quantile of the times of the steps after the first ten (of all if there are fewer);
  /// 0 without any.
  double step_seconds(double quantile) const;
  int64_t steps_timed() const { return int64_t(seconds_.size()); }

 private:
  double now() const;
  bool is_due(int64_t step, double time) const;
  std::string line(int64_t step, const Logs& values, double time) const;
  std::string speed_text(double rate) const;
  void draw(const std::string& bar, const std::string& text, bool ends_line);

  ProgressOptions options_;
  double started_, last_time_, last_draw_ = 0;
  int64_t last_step_, examples_ = 0;  // examples of all steps
  bool line_open_ = false;
  std::vector<double> seconds_;
  train_internal::RunPace pace_;
};

/// Formats 62 seconds as "1:02", an hour more as "1:01:02".
std::string clock_text(double seconds);
/// Formats "  loss 0.2312  accuracy 0.9150", with four decimals, or three digits of small and large
/// numbers.
std::string figures_text(const Logs& values);

}  // namespace distribute::train
