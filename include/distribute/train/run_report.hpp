#pragma once
/// Reports of a trainer: files of results, metric lines, checks of outputs and losses.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/base/detail/empty_braces.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/progress.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace distribute::train {

/// Returns the number of steps of `batch` examples nearest to `epochs` passes over `examples`; at
/// least 1.
int64_t steps_of_epochs(double epochs, int64_t examples, int64_t batch);

/// Returns the number of steps in which the learning rate rises: those of `epochs` passes, but at
/// most a tenth of all, so that short runs also train at the full rate.
/// Source  five epochs of ninety: Goyal et al. 2017; the limit is this library's
int64_t warmup_steps_of_epochs(double epochs, int64_t examples, int64_t batch, int64_t total_steps);

/// Returns the name of the first variable with a value that is nan or infinite; "" if there is
/// none.
std::string first_not_finite(const std::vector<Variable>& variables);

/// Checks a loss; `what` names it, such as "loss". For `fit` there is TerminateOnNaN, which ends it
/// without an error.
/// Throws  FailedPreconditionError with the step and the first variable that is not finite, if
///          `loss` is nan or infinite.
void check_finite_loss(const char* what, double loss, int64_t step,
                       const std::vector<Variable>& variables);

/// Checks variables before a checkpoint: the last update may have made values not finite that no
/// loss has shown yet.
/// Throws  FailedPreconditionError with the step and the variable.
void check_worth_saving(const std::vector<Variable>& variables, int64_t step);

enum class OutputKind {  // purpose of an output path
  File,                  // its directory must exist
  Prefix,                // beginning of the names of files, whose directory must exist
  Directory,             // files appear in it; made when it is missing
  Alone,                 // a directory for one thing, such as a SavedModel, and nothing else
};

/// One of a run's outputs.
struct OutputPath {
  std::string name;  // in errors: "--json"
  std::string path;  // "": nothing is written
  OutputKind kind = OutputKind::File;
};

/// Returns whether the path is the directory or lies below it.
bool lies_in(const std::string& path, const std::string& directory);

/// Checks paths of local file systems; every task calls it.
/// Throws  InvalidArgumentError if two outputs have one path, one lies in another's directory of
///          kind Alone, or a directory exists at a file's path, or a file at a directory's;
///          PermissionDeniedError if a directory cannot be written. Both name the output and the
///          path.
void check_output_paths(const std::vector<OutputPath>& outputs);

/// Writes a small object into each output's directory on a store, such as s3://, and removes it;
/// the task that will write calls it.
/// Throws  the store's error, with the output's name.
void check_output_stores(const std::vector<OutputPath>& outputs);

/// Formats "name=value" with blanks between, with nine digits, as Katib's standard collector and
/// SageMaker's metric definitions find it by a regular expression. Characters of names other than
/// letters, digits, "_", "-" and "|" become "_". Values that are not finite are left out, as they
/// would be read as no value. The line is empty when nothing is left.
/// Source  Kubeflow Katib, `([\w|-]+)\s*=\s*([+-]?\d*(\.\d+)?([Ee][+-]?\d+)?)`
std::string metric_line(const Logs& values);

/// Writes the file that Vertex AI's tuner reads, CLOUD_ML_HP_METRIC_FILE
/// (/tmp/hypertune/output.metrics). Each line is a JSON object with the name of a value and the
/// value. If CLOUD_ML_HP_METRIC_TAG names a value, the file has only that one. Does nothing outside
/// of a trial (CLOUD_ML_TRIAL_ID).
/// Throws  PermissionDeniedError with the path when the file cannot be written.
/// Source  cloudml-hypertune, HyperTune.report_hyperparameter_tuning_metric
void report_hypertune(const Logs& values, int64_t global_step);
/// Checks in a trial, before the training, that report_hypertune() can write.
/// Throws  as report_hypertune().
void check_hypertune();

struct MetricLinesOptions {  // options of MetricLines
  std::FILE* out = stdout;
};

/// Prints a metric line for every epoch, and reports it to the tuner. Only the chief writes.
class MetricLines : public Callback {
 public:
  explicit MetricLines(EmptyBraces) : MetricLines() {}
  explicit MetricLines(MetricLinesOptions options = {}) : out_(options.out) {}
  DISTRIBUTE_INLINE void on_train_begin(Logs& logs) override;
  DISTRIBUTE_INLINE void on_epoch_end(int64_t epoch, Logs& logs) override;
  bool wants_batch_metrics() const override { return false; }

 private:
  std::FILE* out_;
};

}  // namespace distribute::train

namespace distribute {
class Strategy;
}

namespace distribute::train {

/// Reports a run; its fields have the names that the JSON object uses.
struct RunReport {
  std::string strategy, device, policy;
  int64_t replicas = 0, workers = 1, global_batch = 0, steps = 0;
  double images_per_second = 0, step_ms_p50 = 0, step_ms_p95 = 0, seconds_to_first_step = 0;
  double loss = 0;
  std::optional<double> test_loss, test_accuracy;  // null if nothing was tested
  // These fields are written only if they were measured:
  std::optional<double> test_top_5_accuracy, input_wait_share, test_perplexity, tokens_per_second;
  int64_t parameters = 0, peak_rss_bytes = 0, peak_gpu_bytes = 0;
};

/// Fills in the times that `progress` has measured.
void add_speed(RunReport& report, const Progress& progress);

/// Fills in "gpu" when the strategy's replicas are on GPUs, else "cpu".
void add_device(RunReport& report, const Strategy& strategy);
/// Fills in the peak memory of the process, and of all GPUs of the strategy.
void add_memory(RunReport& report, const Strategy& strategy);

/// Returns the JSON object, with two blanks before each field and a final line break.
std::string to_json(const RunReport& report);

/// Target of a report: a file, or standard output for "-". To keep standard output a single JSON
/// object, all other output goes to standard error while this object lives. Make it before other
/// threads print.
class ReportTarget {
 public:
  explicit ReportTarget(std::string path);
  /// Restores standard output.
  ~ReportTarget();
  ReportTarget(const ReportTarget&) = delete;
  ReportTarget& operator=(const ReportTarget&) = delete;

  /// Writes the report. A regular file is written whole or not at all; a pipe or a terminal is
  /// written directly.
  /// Throws  PermissionDeniedError, or what the file system says, with the path.
  void write(const RunReport& report);

 private:
  const std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stdout_;  // the original one; null for a file
};

}  // namespace distribute::train
