#pragma once
#include <distribute/base/metrics.hpp>
#include <distribute/data_service/detail/service_metrics.hpp>

namespace distribute::data::service_internal {

DISTRIBUTE_INLINE monitoring::CounterCell& service_counter(const char* name,
                                                           const char* description) {
  return monitoring::default_registry()
      .counter({.name = name, .description = description})
      .get_cell();
}

DISTRIBUTE_INLINE monitoring::GaugeCell& service_gauge(const char* name, const char* description) {
  return monitoring::default_registry()
      .gauge({.name = name, .description = description})
      .get_cell();
}

DISTRIBUTE_INLINE WorkerMetrics::WorkerMetrics()
    : elements(service_counter("distribute_data_service_elements_total",
                               "Elements that this worker of a data service gave to readers.")),
      bytes(service_counter("distribute_data_service_bytes_total",
                            "Bytes of these elements, as they were sent.")),
      skipped(service_counter("distribute_data_service_skipped_elements_total",
                              "Elements that left a cross-trainer cache before a slow trainer read "
                              "them.")) {}

DISTRIBUTE_INLINE WorkerMetrics& worker_metrics() { return in_process<WorkerMetrics>(); }

DISTRIBUTE_INLINE DispatcherMetrics::DispatcherMetrics()
    : workers(service_gauge("distribute_data_service_workers",
                            "Workers of this dispatcher that are there.")),
      clients(service_gauge("distribute_data_service_clients",
                            "Readers in the middle of a pass over a dataset of this dispatcher.")),
      lost_workers(service_counter("distribute_data_service_lost_workers_total",
                                   "Workers that this dispatcher has lost.")) {}

DISTRIBUTE_INLINE DispatcherMetrics& dispatcher_metrics() {
  return in_process<DispatcherMetrics>();
}

}  // namespace distribute::data::service_internal
