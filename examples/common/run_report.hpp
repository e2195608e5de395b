#pragma once
/// What a training run tells: progress while it goes, one JSON object at its end.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace examples {

/// The object that --json writes; field names are the file's.
struct RunReport {
  std::string strategy, device, policy;
  int64_t replicas = 0, workers = 1, global_batch = 0, steps = 0;
  double images_per_second = 0, step_ms_p50 = 0, step_ms_p95 = 0, seconds_to_first_step = 0;
  double loss = 0;
  std::optional<double> test_loss, test_accuracy;
  std::optional<double> test_top_5_accuracy;  // written only where it was measured
  int64_t parameters = 0, peak_rss_bytes = 0, peak_gpu_bytes = 0;
};

/// Writes the report to the file, or to standard output for "-".
/// Throws  distribute::Error when the file cannot be written.
void write_json(const RunReport& report, const std::string& target);

/// For files that are written at the end of a run: finds out at its beginning whether they can be.
/// Throws  PermissionDeniedError that names flag and directory.
void require_writable(const char* flag, const std::string& path);

/// Times steps and prints how training goes: a bar on a terminal, else a line every 100 steps.
class Progress {
 public:
  /// `prints`: whether anything is printed at all; the chief does.
  Progress(int64_t first_step, int64_t total_steps, int64_t global_batch, bool prints = true);
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Call after every step; `step` counts from 1.
  void step_done(int64_t step, double loss);
  /// Ends the bar's line, if there is one.
  void finish();
  /// Medians over the steps after the first ten (over all when there are fewer).
  void fill(RunReport& report) const;

 private:
  double images_per_second() const;
  int64_t first_step_, total_steps_, global_batch_;
  bool prints_, terminal_, line_open_ = false;
  double last_time_, started_, last_draw_ = 0, first_step_seconds_ = 0;
  std::vector<double> step_seconds_;
};

}  // namespace examples
