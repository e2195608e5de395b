#pragma once
#include <distribute/base/environment.hpp>
#include <distribute/base/error.hpp>
#include <distribute/base/metrics.hpp>
#include <distribute/base/process_state.hpp>

#include <map>
#include <mutex>
#include <utility>

namespace distribute::base_internal {

struct MetricsSinks {
  std::mutex mutex;  // guards by_name
  std::map<std::string, monitoring::MetricsSink> by_name;
};

}  // namespace distribute::base_internal

namespace distribute::monitoring {

DISTRIBUTE_INLINE void register_metrics_sink(const std::string& name, MetricsSink start) {
  auto& sinks = in_process<base_internal::MetricsSinks>();
  const std::lock_guard lock(sinks.mutex);
  sinks.by_name.insert_or_assign(name, std::move(start));
}

DISTRIBUTE_INLINE void start_metrics_sinks(const std::string& host) {
  auto& sinks = in_process<base_internal::MetricsSinks>();
  std::map<std::string, MetricsSink> started;
  {
    const std::lock_guard lock(sinks.mutex);
    started = sinks.by_name;
  }
  if (!Environment().text("DISTRIBUTE_METRICS_PORT").empty() && !started.contains("prometheus"))
    throw FailedPreconditionError(
        "DISTRIBUTE_METRICS_PORT is set, but this program has no metrics server: include "
        "<distribute/metrics.hpp> and link distribute::metrics");
  for (const auto& [name, start] : started) start(host);
}

}  // namespace distribute::monitoring
