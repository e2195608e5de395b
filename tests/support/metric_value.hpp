#pragma once
/// What the library has counted so far.

#include <distribute/base/metrics.hpp>

#include <string>
#include <vector>

/// The value of a counter or gauge, how many values a sampler has; 0 where there is no such cell.
inline double metric_value(const std::string& name, const std::vector<std::string>& labels = {}) {
  using namespace distribute::monitoring;
  for (const MetricFamily& family : default_registry().collect_metrics())
    for (const auto& point : family.points) {
      if (family.options.name != name || point.labels != labels) continue;
      double count = point.value;
      for (const int64_t in_bucket : point.histogram.counts) count += double(in_bucket);
      return count;
    }
  return 0;
}
