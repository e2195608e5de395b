#pragma once
/// What shows the metrics of a process to others, such as a server for Prometheus.

#include <distribute/base/config.hpp>

#include <functional>
#include <string>

namespace distribute::monitoring {

/// Starts the sink of this process, when it is configured, at the first call; `host` is the address
/// of the task, "127.0.0.1" outside of jobs.
using MetricsSink = std::function<void(const std::string& host)>;

/// Adds a sink to those that every strategy and every task of a job starts.
/// <distribute/metrics.hpp> adds the server for Prometheus. Thread-safe.
void register_metrics_sink(const std::string& name, MetricsSink start);

/// Starts all sinks that are registered.
/// Throws  FailedPreconditionError where DISTRIBUTE_METRICS_PORT asks for the server for Prometheus
///         and the program does not have it; what a sink throws.
void start_metrics_sinks(const std::string& host);

}  // namespace distribute::monitoring
