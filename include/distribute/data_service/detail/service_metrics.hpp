#pragma once
/// Counters of a data service, which the exporters of metrics read.

#include <distribute/base/config.hpp>
#include <distribute/base/monitoring.hpp>

namespace distribute::data::service_internal {

/// Cells of a process with workers. Thread-safe.
struct WorkerMetrics {
  WorkerMetrics();
  monitoring::CounterCell& elements;  // that readers were given
  monitoring::CounterCell& bytes;     // of them, as they were sent
  monitoring::CounterCell& skipped;   // that a slow trainer did not get from a cache
};
WorkerMetrics& worker_metrics();

/// Cells of a process with a dispatcher. Thread-safe.
struct DispatcherMetrics {
  DispatcherMetrics();
  monitoring::GaugeCell& workers;  // that are there
  monitoring::GaugeCell& clients;  // readers in the middle of a pass
  monitoring::CounterCell& lost_workers;
};
DispatcherMetrics& dispatcher_metrics();

}  // namespace distribute::data::service_internal
