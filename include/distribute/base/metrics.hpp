#pragma once
/// Counters and gauges of the library, and the sinks that export them.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/library_metrics.hpp>
#include <distribute/base/process_state.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace distribute::monitoring {

/// Returns the metrics of the library's base; each folder above it has its own. Thread-safe.
inline LibraryMetrics& metrics() { return in_process<LibraryMetrics>(); }

/// Returns the registry for metrics of programs; those of the library are in it, too.
/// Source  tensorflow::monitoring::CollectionRegistry::Default
inline CollectionRegistry& default_registry() { return metrics().registry; }

/// Makes metrics of the default registry, for the folders of the library.
inline MetricMaker make_metric() { return {default_registry()}; }

/// Measures nanoseconds from its construction on.
class Stopwatch {
 public:
  using Clock = std::chrono::steady_clock;
  int64_t nanoseconds() const { return std::chrono::nanoseconds(Clock::now() - begin_).count(); }

 private:
  Clock::time_point begin_ = Clock::now();
};

/// Adds the time of its scope.
class [[nodiscard]] Waiting {
 public:
  explicit Waiting(WaitCells& cells) : cells_(cells) {}
  ~Waiting() { cells_.add(watch_.nanoseconds()); }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  WaitCells& cells_;
  Stopwatch watch_;
};

/// Starts a sink of this process, if it is configured, at the first call; `host` is the address of
/// the task, "127.0.0.1" outside of jobs.
using MetricsSink = std::function<void(const std::string& host)>;

/// Adds a sink to those that every strategy and every task of a job starts;
/// <distribute/metrics.hpp> adds the server for Prometheus. Thread-safe.
void register_metrics_sink(const std::string& name, MetricsSink start);

/// Starts all registered sinks.
/// Throws  FailedPreconditionError if DISTRIBUTE_METRICS_PORT asks for the server for Prometheus
///          and the program does not have it; what a sink throws.
void start_metrics_sinks(const std::string& host);

}  // namespace distribute::monitoring
