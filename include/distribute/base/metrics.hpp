#pragma once
/// Counters and gauges of the library, and the sinks that show them to others.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/library_metrics.hpp>
#include <distribute/base/process_state.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace distribute::monitoring {

/// What this library counts. Thread-safe.
inline LibraryMetrics& metrics() { return in_process<LibraryMetrics>(); }

/// Where programs put metrics of their own; those of the library are here, too.
/// Source  tensorflow::monitoring::CollectionRegistry::Default
inline CollectionRegistry& default_registry() { return metrics().registry; }

/// Nanoseconds from its construction on.
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

/// One entry of a queue, as long as it waits there.
class [[nodiscard]] QueueEntry {
 public:
  explicit QueueEntry(GaugeCell& length) : length_(length) { length_.add(1); }
  ~QueueEntry() { length_.add(-1); }
  QueueEntry(const QueueEntry&) = delete;
  QueueEntry& operator=(const QueueEntry&) = delete;

 private:
  GaugeCell& length_;
};

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
