#pragma once
/// Metrics as text that Prometheus reads: exposition format 0.0.4.

#include <distribute/base/config.hpp>
#include <distribute/base/monitoring.hpp>

#include <string>
#include <vector>

namespace distribute::monitoring {

inline constexpr const char* kPrometheusContentType = "text/plain; version=0.0.4; charset=utf-8";

/// HELP, TYPE and a line for each point of each family, in the order given; samplers become
/// histograms. Families without points are left out.
/// Source  https://prometheus.io/docs/instrumenting/exposition_formats
std::string prometheus_text(const std::vector<MetricFamily>& families);

/// What the system says about this process, under the names that Prometheus's own clients use:
/// process_resident_memory_bytes, process_cpu_seconds_total, process_open_fds, ... Units are in the
/// names.
std::vector<MetricFamily> process_metrics();

}  // namespace distribute::monitoring
