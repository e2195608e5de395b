#pragma once
/// Metrics of the coordinator.

#include <distribute/base/config.hpp>
#include <distribute/base/metrics.hpp>

namespace distribute::coordinator_internal {

/// Thread-safe.
struct ClosureMetrics {
  monitoring::GaugeCell& queued = monitoring::make_metric().queue("closures");
  monitoring::GaugeCell& running = monitoring::make_metric().queue("closures_in_flight");
  monitoring::Counter& closures = monitoring::make_metric().labelled(
      "distribute_closures_total", "Closures of the coordinator that workers gave back.",
      {"result"});
};

inline ClosureMetrics& closure_metrics() { return in_process<ClosureMetrics>(); }
/// Programs with this folder export its metrics from their start on.
inline const bool kClosureMetricsExist = (closure_metrics(), true);

}  // namespace distribute::coordinator_internal
