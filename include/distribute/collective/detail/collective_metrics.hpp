#pragma once
/// Metrics of collectives.

#include <distribute/base/config.hpp>
#include <distribute/base/metrics.hpp>

#include <string>

namespace distribute::collective {

/// Cells of one kind of collective over one transport.
struct CollectiveCells {
  monitoring::CounterCell* calls = nullptr;
  monitoring::CounterCell* time = nullptr;  // nanoseconds
  monitoring::CounterCell* bytes = nullptr;
  monitoring::CounterCell* sent = nullptr;  // null if the transport itself counts its bytes
  monitoring::CounterCell* received = nullptr;
};

/// Thread-safe.
struct CollectiveMetrics {
  /// Returns the cells of one kind of collective over one transport; it takes a lock.
  CollectiveCells of(const std::string& kind, const std::string& transport);

  monitoring::Counter& collectives = monitoring::make_metric().labelled(
      "distribute_collectives_total", "Collectives that have ended.", {"collective", "transport"});
  monitoring::Counter& time =
      monitoring::make_metric().labelled("distribute_collective_seconds_total",
                                         "Time in collectives, side by side with computing or not.",
                                         {"collective", "transport"}, 1e-9);
  monitoring::Counter& bytes = monitoring::make_metric().labelled(
      "distribute_collective_bytes_total",
      "Size of the arrays that this task's ranks brought to collectives.",
      {"collective", "transport"});
  monitoring::Counter& transport_bytes = monitoring::make_metric().transport_bytes();
  monitoring::CounterCell& failures = monitoring::make_metric().counter(
      "distribute_collective_failures_total", "Collectives that ended with an error.");
  monitoring::TrafficCells tcp = monitoring::make_metric().tcp("collective");
  monitoring::GaugeCell& queued = monitoring::make_metric().queue("collectives");
  monitoring::WaitCells wait = monitoring::make_metric().wait("collective");
};

inline CollectiveMetrics& collective_metrics() { return in_process<CollectiveMetrics>(); }
/// Programs with this folder export its metrics from their start on.
inline const bool kCollectiveMetricsExist = (collective_metrics(), true);

}  // namespace distribute::collective
