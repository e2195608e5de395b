#pragma once
#include <distribute/base/detail/metric_maker.hpp>

#include <utility>

namespace distribute::monitoring {

DISTRIBUTE_INLINE CounterCell& MetricMaker::counter(const char* name,
                                                    const char* description) const {
  return registry.counter({.name = name, .description = description}).get_cell();
}

DISTRIBUTE_INLINE GaugeCell& MetricMaker::gauge(const char* name, const char* description) const {
  return registry.gauge({.name = name, .description = description}).get_cell();
}

DISTRIBUTE_INLINE SamplerCell& MetricMaker::seconds(const char* name,
                                                    const char* description) const {
  return registry
      .sampler({.name = name,
                .description = description,
                .limits = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
                           30, 60, 300}})
      .get_cell();
}

DISTRIBUTE_INLINE Counter& MetricMaker::labelled(const char* name, const char* description,
                                                 std::vector<std::string> labels,
                                                 double unit) const {
  return registry.counter(
      {.name = name, .description = description, .labels = std::move(labels), .unit = unit});
}

DISTRIBUTE_INLINE WaitCells MetricMaker::wait(const char* cause) const {
  const std::vector<std::string> labels = {"for"};
  return {
      labelled("distribute_wait_seconds_total",
               "Time that training threads were blocked, by what they waited for.", labels, 1e-9)
          .get_cell({cause}),
      labelled("distribute_stalls_total", "Such waits of more than a second.", labels)
          .get_cell({cause})};
}

DISTRIBUTE_INLINE Counter& MetricMaker::transport_bytes() const {
  return labelled("distribute_transport_bytes_total",
                  "Bytes between tasks: with headers on sockets, elsewhere those that had to move.",
                  {"service", "transport", "direction"});
}

DISTRIBUTE_INLINE TrafficCells MetricMaker::tcp(const char* service) const {
  return {transport_bytes().get_cell({service, "tcp", "sent"}),
          transport_bytes().get_cell({service, "tcp", "received"})};
}

DISTRIBUTE_INLINE GaugeCell& MetricMaker::queue(const char* queue) const {
  return registry
      .gauge({.name = "distribute_queue_length",
              .description = "Entries that wait in this task.",
              .labels = {"queue"}})
      .get_cell({queue});
}

}  // namespace distribute::monitoring
