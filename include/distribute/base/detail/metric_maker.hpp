#pragma once
/// Makes the cells of the library's own metrics; each folder keeps its cells in one struct.

#include <distribute/base/config.hpp>
#include <distribute/base/monitoring.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace distribute::monitoring {

/// Bytes over one transport.
struct TrafficCells {
  CounterCell& sent;
  CounterCell& received;
};

/// Waiting time of threads that had no other work.
class WaitCells {
 public:
  WaitCells(CounterCell& time, CounterCell& stalls) : time_(time), stalls_(stalls) {}
  /// Adds a wait; one of more than a second is a stall.
  void add(int64_t nanoseconds) noexcept {
    time_.increment_by(nanoseconds);
    if (nanoseconds > 1'000'000'000) stalls_.increment_by();
  }

 private:
  CounterCell& time_;
  CounterCell& stalls_;
};

/// Makes metrics of `registry`. A name that several folders use, such as the one of all queues,
/// gives each of them a cell of one metric. Thread-safe.
struct MetricMaker {
  CollectionRegistry& registry;

  CounterCell& counter(const char* name, const char* description) const;
  GaugeCell& gauge(const char* name, const char* description) const;
  /// Makes a histogram of seconds, from a millisecond to five minutes.
  SamplerCell& seconds(const char* name, const char* description) const;
  /// Makes a counter with labels; exporters multiply its values by `unit`.
  Counter& labelled(const char* name, const char* description, std::vector<std::string> labels,
                    double unit = 1) const;
  /// Makes the cells of distribute_wait_seconds_total and distribute_stalls_total for one cause.
  WaitCells wait(const char* cause) const;
  /// Makes the counter of bytes by service, transport and direction.
  Counter& transport_bytes() const;
  TrafficCells tcp(const char* service) const;
  /// Makes the cell of distribute_queue_length for one queue.
  GaugeCell& queue(const char* queue) const;
};

}  // namespace distribute::monitoring
