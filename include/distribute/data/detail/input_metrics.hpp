#pragma once
/// Metrics of datasets that are read.

#include <distribute/base/config.hpp>
#include <distribute/base/metrics.hpp>

namespace distribute::data::data_internal {

/// Thread-safe.
struct InputMetrics {
  monitoring::CounterCell& examples = monitoring::make_metric().counter(
      "distribute_input_examples_total", "Examples that iterators over datasets gave out.");
  monitoring::WaitCells wait = monitoring::make_metric().wait("input");
  monitoring::GaugeCell& prefetched_batches = monitoring::make_metric().queue("prefetch");
};

inline InputMetrics& input_metrics() { return in_process<InputMetrics>(); }
/// Programs with this folder export its metrics from their start on.
inline const bool kInputMetricsExist = (input_metrics(), true);

}  // namespace distribute::data::data_internal
