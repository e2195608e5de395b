#pragma once
/// What a data service counts, for the exporters of metrics.

#include <distribute/base/config.hpp>
#include <distribute/base/monitoring.hpp>

namespace distribute::data::service_internal {

/// Cells of this process, which a dispatcher or a worker fills. Thread-safe.
struct ServiceMetrics {
  ServiceMetrics();
  monitoring::CounterCell& elements;  // of a worker, that readers were given
  monitoring::CounterCell& bytes;     // of them, as they were sent
  monitoring::CounterCell& skipped;   // that a slow trainer did not get from a cache
  monitoring::GaugeCell& workers;     // of a dispatcher, that are there
  monitoring::GaugeCell& clients;     // readers in the middle of a pass
  monitoring::CounterCell& lost_workers;
};
ServiceMetrics& service_metrics();

}  // namespace distribute::data::service_internal
