#pragma once
/// Metrics of a task of a job.

#include <distribute/base/config.hpp>
#include <distribute/base/metrics.hpp>

namespace distribute::cluster_internal {

/// Thread-safe.
struct ClusterMetrics {
  monitoring::GaugeCell& tasks = monitoring::make_metric().gauge(
      "distribute_cluster_tasks", "Tasks of the job; 0 until all have joined.");
  monitoring::CounterCell& refused_connections = monitoring::make_metric().counter(
      "distribute_refused_connections_total",
      "Connections to this task's port that did not belong to the job.");
  /// 1 for this task, by job and index.
  monitoring::Gauge& task_info =
      monitoring::default_registry().gauge({.name = "distribute_task_info",
                                            .description = "1 for the task that this process is.",
                                            .labels = {"job", "index"}});
};

inline ClusterMetrics& cluster_metrics() { return in_process<ClusterMetrics>(); }
/// Programs with this folder export its metrics from their start on.
inline const bool kClusterMetricsExist = (cluster_metrics(), true);

}  // namespace distribute::cluster_internal
