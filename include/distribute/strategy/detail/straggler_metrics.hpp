#pragma once
/// Metrics of workers that the others wait for.

#include <distribute/base/config.hpp>
#include <distribute/base/metrics.hpp>

namespace distribute::strategy_internal {

/// Thread-safe.
struct StragglerMetrics {
  monitoring::Counter& steps = monitoring::make_metric().labelled(
      "distribute_straggler_steps_total",
      "Steps in which the others waited for a worker, where that costs much.", {"worker"});
  monitoring::Counter& seconds = monitoring::make_metric().labelled(
      "distribute_straggler_seconds_total", "How late it was, behind the mean of the others.",
      {"worker"}, 1e-9);
};

inline StragglerMetrics& straggler_metrics() { return in_process<StragglerMetrics>(); }
/// Programs with this folder export its metrics from their start on.
inline const bool kStragglerMetricsExist = (straggler_metrics(), true);

}  // namespace distribute::strategy_internal
