#pragma once
/// What a training run tells: progress while it goes, one JSON object at its end.

#include <distribute/train/progress.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace examples {

/// The object that --json writes; field names are the file's.
struct RunReport {
  std::string strategy, device, policy;
  int64_t replicas = 0, workers = 1, global_batch = 0, steps = 0;
  double images_per_second = 0, step_ms_p50 = 0, step_ms_p95 = 0, seconds_to_first_step = 0;
  double loss = 0;
  std::optional<double> test_loss, test_accuracy;
  // Written only where they were measured.
  std::optional<double> test_top_5_accuracy, input_wait_share;
  std::string input;  // for people: speed and wait of each stage of the input pipeline
  int64_t parameters = 0, peak_rss_bytes = 0, peak_gpu_bytes = 0;
};

/// For --json without a file: from now on the report alone goes to standard output, so that a JSON
/// parser can read it, and everything else that is printed to standard error.
void keep_stdout_for_json();

/// Writes the report to the file, or to standard output for "-".
/// Throws  distribute::Error when the file cannot be written.
void write_json(const RunReport& report, const std::string& target);

/// For files that are written at the end of a run: finds out at its beginning whether they can be.
/// Throws  PermissionDeniedError that names flag and directory.
void require_writable(const char* flag, const std::string& path);
/// The same on a store, by a small object that is written to the directory and removed; does
/// nothing for paths elsewhere.
void require_writable_store(const char* flag, const std::string& path,
                            const std::string& directory);
/// The same where files appear below `directory`.
void require_writable_directory(const char* flag, const std::string& path,
                                const std::string& directory);

/// train::Progress with what the report wants of it.
class Progress {
 public:
  /// `prints`: whether anything is printed at all; the chief does.
  Progress(int64_t first_step, int64_t total_steps, int64_t global_batch, bool prints = true);
  /// Call after every step; `step` counts from 1.
  void step_done(int64_t step, double loss);
  void finish() { progress_.finish(); }
  void fill(RunReport& report) const;

 private:
  distribute::train::Progress progress_;
  double first_step_seconds_ = 0;
};

}  // namespace examples
