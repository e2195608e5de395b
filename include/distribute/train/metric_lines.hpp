#pragma once
/// Figures as lines that tuners read: "loss=0.2312 accuracy=0.915".

#include <distribute/base/config.hpp>
#include <distribute/base/empty_braces.hpp>
#include <distribute/train/callback.hpp>
#include <distribute/train/logs.hpp>

#include <cstdint>
#include <cstdio>
#include <string>

namespace distribute::train {

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
