#pragma once
/// The figures of a training run, as one JSON object at its end.

#include <distribute/base/config.hpp>
#include <distribute/train/progress.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

namespace distribute {
class Strategy;
}

namespace distribute::train {

/// Field names are those of the JSON object.
struct RunReport {
  std::string strategy, device, policy;
  int64_t replicas = 0, workers = 1, global_batch = 0, steps = 0;
  double images_per_second = 0, step_ms_p50 = 0, step_ms_p95 = 0, seconds_to_first_step = 0;
  double loss = 0;
  std::optional<double> test_loss, test_accuracy;  // null where nothing was tested
  // Written only where they were measured.
  std::optional<double> test_top_5_accuracy, input_wait_share, test_perplexity, tokens_per_second;
  int64_t parameters = 0, peak_rss_bytes = 0, peak_gpu_bytes = 0;
};

/// Fills in what `progress` has timed.
void add_speed(RunReport& report, const Progress& progress);

/// Fills in "gpu" when the strategy's replicas are on GPUs, else "cpu".
void add_device(RunReport& report, const Strategy& strategy);
/// Fills in the most memory that was in use at a time: the process's, and that of all the
/// strategy's GPUs.
void add_memory(RunReport& report, const Strategy& strategy);

/// The object, with two blanks before each field and a line's end.
std::string to_json(const RunReport& report);

/// Where a report goes: a file, or standard output for "-". There it stands alone, so that a JSON
/// parser can read it: while this object lives, all that is printed goes to standard error. Make it
/// before other threads print.
class ReportTarget {
 public:
  explicit ReportTarget(std::string path);
  /// Restores standard output.
  ~ReportTarget();
  ReportTarget(const ReportTarget&) = delete;
  ReportTarget& operator=(const ReportTarget&) = delete;

  /// A regular file is written whole or not at all; a pipe or a terminal takes what comes.
  /// Throws  PermissionDeniedError, or what the file system says, with the path.
  void write(const RunReport& report);

 private:
  const std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stdout_;  // as it was; null for a file
};

}  // namespace distribute::train
