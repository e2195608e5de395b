#pragma once
/// Metrics of parameter servers and of their clients.

#include <distribute/base/config.hpp>
#include <distribute/base/metrics.hpp>

namespace distribute::parameter_server {

/// Thread-safe.
struct ServerMetrics {
  monitoring::Counter& requests = monitoring::make_metric().labelled(
      "distribute_parameter_server_requests_total", "Requests that this parameter server answered.",
      {"request"});
  monitoring::Counter& pushes = monitoring::make_metric().labelled(
      "distribute_parameter_server_pushes_total", "Pushes of gradients at this parameter server.",
      {"result"});
  monitoring::CounterCell& applied_pushes = pushes.get_cell({"applied"});
  monitoring::CounterCell& stale_pushes = pushes.get_cell({"stale"});
  monitoring::CounterCell& repeated_pushes = pushes.get_cell({"repeated"});
  monitoring::GaugeCell& variables = monitoring::make_metric().gauge(
      "distribute_parameter_server_variables", "Variables, slots included, on this server.");
  monitoring::GaugeCell& bytes = monitoring::make_metric().gauge(
      "distribute_parameter_server_bytes", "Bytes of the variables on this server.");
  monitoring::TrafficCells tcp = monitoring::make_metric().tcp("parameter_server");
  monitoring::GaugeCell& unanswered_requests =
      monitoring::make_metric().queue("parameter_server_requests");
  monitoring::WaitCells wait = monitoring::make_metric().wait("parameter_server");
};

inline ServerMetrics& server_metrics() { return in_process<ServerMetrics>(); }
/// Programs with this folder export its metrics from their start on.
inline const bool kServerMetricsExist = (server_metrics(), true);

}  // namespace distribute::parameter_server
