#pragma once
/// Metrics of a data service.

#include <distribute/base/config.hpp>
#include <distribute/base/metrics.hpp>

namespace distribute::data::service_internal {

/// Metrics of a process with workers. Thread-safe.
struct WorkerMetrics {
  monitoring::CounterCell& elements = monitoring::make_metric().counter(
      "distribute_data_service_elements_total",
      "Elements that this worker of a data service gave to readers.");
  monitoring::CounterCell& bytes = monitoring::make_metric().counter(
      "distribute_data_service_bytes_total", "Bytes of these elements, as they were sent.");
  monitoring::CounterCell& skipped = monitoring::make_metric().counter(
      "distribute_data_service_skipped_elements_total",
      "Elements that left a cross-trainer cache before a slow trainer read them.");
};
inline WorkerMetrics& worker_metrics() { return in_process<WorkerMetrics>(); }

/// Metrics of a process with a dispatcher. Thread-safe.
struct DispatcherMetrics {
  monitoring::GaugeCell& workers = monitoring::make_metric().gauge(
      "distribute_data_service_workers", "Workers of this dispatcher that are there.");
  monitoring::GaugeCell& clients = monitoring::make_metric().gauge(
      "distribute_data_service_clients",
      "Readers in the middle of a pass over a dataset of this dispatcher.");
  monitoring::CounterCell& lost_workers = monitoring::make_metric().counter(
      "distribute_data_service_lost_workers_total", "Workers that this dispatcher has lost.");
};
inline DispatcherMetrics& dispatcher_metrics() { return in_process<DispatcherMetrics>(); }

}  // namespace distribute::data::service_internal
