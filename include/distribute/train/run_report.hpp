#pragma once
/// What a trainer reports: files of results, metric lines, checked outputs and losses.

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

/// The nearest number of steps of `batch` examples to `epochs` passes over `examples`; at least 1.
int64_t steps_of_epochs(double epochs, int64_t examples, int64_t batch);

/// Steps in which the learning rate rises: those of `epochs` passes, but a tenth of all at most, so
/// that short runs train at the full rate, too.
/// Source  five epochs of ninety: Goyal et al. 2017; the limit is ours
int64_t warmup_steps_of_epochs(double epochs, int64_t examples, int64_t batch, int64_t total_steps);

/// Name of the first variable with a value that is nan or infinite; "": there is none.
std::string first_not_finite(const std::vector<Variable>& variables);

/// `what`: "loss". TerminateOnNaN is the same for `fit`, and ends it without an error.
/// Throws  FailedPreconditionError with the step and the first variable that is not finite, where
///         `loss` is nan or infinite.
void check_finite_loss(const char* what, double loss, int64_t step,
                       const std::vector<Variable>& variables);

/// Before a checkpoint: the last update may have spoiled what no loss has shown yet.
/// Throws  FailedPreconditionError with the step and the variable.
void check_worth_saving(const std::vector<Variable>& variables, int64_t step);

enum class OutputKind {  // what an output path is for
  File,                  // its directory must exist
  Prefix,                // of the names of files; the same
  Directory,             // files appear in it; made when it is missing
  Alone,                 // the same, which holds one thing, such as a SavedModel, and nothing else
};

/// One of a run's outputs.
struct OutputPath {
  std::string name;  // in errors: "--json"
  std::string path;  // "": nothing is written
  OutputKind kind = OutputKind::File;
};

/// Whether the path is the directory or lies below it.
bool lies_in(const std::string& path, const std::string& directory);

/// Looks at paths of local file systems; every task does.
/// Throws  InvalidArgumentError where two outputs have one path, one lies in another's directory of
///         kind Alone, or a directory stands where a file is to be, or a file for a directory;
///         PermissionDeniedError where a directory cannot be written. Both name the output and the
///         path.
void check_output_paths(const std::vector<OutputPath>& outputs);

/// Writes a small object into each output's directory on a store, such as s3://, and removes it;
/// the task that will write does.
/// Throws  what the store says, with the output's name.
void check_output_stores(const std::vector<OutputPath>& outputs);

/// "name=value" with blanks between, nine digits; what Katib's standard collector and SageMaker's
/// metric definitions find by a regular expression. Characters of names other than letters, digits,
/// "_", "-" and "|" become "_". Values that are not finite are left out: they would be read as
/// nothing. Empty when nothing is left.
/// Source  Kubeflow Katib, `([\w|-]+)\s*=\s*([+-]?\d*(\.\d+)?([Ee][+-]?\d+)?)`
std::string metric_line(const Logs& values);

/// The file that Vertex AI's tuner reads: one JSON object a line, with the value of the metric
/// CLOUD_ML_HP_METRIC_TAG ("training/hptuning/metric" unless set), in CLOUD_ML_HP_METRIC_FILE
/// (/tmp/hypertune/output.metrics). Does nothing outside of a trial (CLOUD_ML_TRIAL_ID), and for
/// values without that metric.
/// Throws  PermissionDeniedError with the path when the file cannot be written.
/// Source  cloudml-hypertune, HyperTune.report_hyperparameter_tuning_metric
void report_hypertune(const Logs& values, int64_t global_step);

struct MetricLinesOptions {  // options of MetricLines
  std::FILE* out = stdout;
};

/// Prints the line of every epoch, and reports it to the tuner. The chief alone writes.
class MetricLines : public Callback {
 public:
  explicit MetricLines(EmptyBraces) : MetricLines() {}
  explicit MetricLines(MetricLinesOptions options = {}) : out_(options.out) {}
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
