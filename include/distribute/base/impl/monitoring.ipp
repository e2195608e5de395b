#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/monitoring.hpp>

#include <algorithm>
#include <string_view>

namespace distribute::monitoring {

DISTRIBUTE_INLINE SamplerCell::SamplerCell(const MetricOptions& options)
    : limits_(options.limits), counts_(new std::atomic<int64_t>[limits_.size() + 1]()) {}

DISTRIBUTE_INLINE void SamplerCell::add(double value) noexcept {
  const auto limit = std::lower_bound(limits_.begin(), limits_.end(), value);
  counts_[size_t(limit - limits_.begin())].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

DISTRIBUTE_INLINE Histogram SamplerCell::value() const {
  Histogram result{.limits = limits_, .counts = {}, .sum = sum_.load(std::memory_order_relaxed)};
  for (size_t i = 0; i <= limits_.size(); ++i)
    result.counts.push_back(counts_[i].load(std::memory_order_relaxed));
  return result;
}

DISTRIBUTE_INLINE std::vector<double> exponential_buckets(double scale, double growth, int count) {
  std::vector<double> limits;
  for (int i = 0; i < count; ++i, scale *= growth) limits.push_back(scale);
  return limits;
}

DISTRIBUTE_INLINE const char* name_of(MetricKind kind) {
  constexpr const char* names[] = {"counter", "gauge", "sampler"};
  return names[int(kind)];
}

DISTRIBUTE_INLINE bool is_metric_name(std::string_view name) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  return !name.empty() && letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return letter(c) || (c >= '0' && c <= '9');
  });
}

DISTRIBUTE_INLINE void check_metric(const MetricOptions& options) {
  const auto refuse = [&](const auto&... words) {
    throw InvalidArgumentError(str_cat("metric '", options.name, "': ", words...));
  };
  if (!is_metric_name(options.name))
    refuse("a name begins with a letter or _, and goes on with letters, digits and _");
  for (const std::string& label : options.labels)
    if (!is_metric_name(label) || label.starts_with("__") || label == "le")
      refuse("'", label, "' cannot be a label");
  const auto falls = std::adjacent_find(options.limits.begin(), options.limits.end(),
                                        [](double a, double b) { return !(a < b); });
  if (falls != options.limits.end()) refuse("the limits do not rise after ", *falls);
}

DISTRIBUTE_INLINE void check_label_values(const MetricOptions& options, size_t count) {
  if (count != options.labels.size())
    throw InvalidArgumentError(str_cat("metric '", options.name, "' has ", options.labels.size(),
                                       " labels, ", count, " values came"));
}

template <class Cell>
CellMap<Cell>& CollectionRegistry::find(const MetricOptions& options) {
  check_metric(options);
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Metric>& metric = metrics_[options.name];
  if (!metric) metric = std::make_unique<CellMap<Cell>>(options);
  const MetricFamily known = metric->collect();
  if (known.kind != Cell::kKind)
    throw InvalidArgumentError(str_cat("metric '", options.name, "' is a ", name_of(known.kind),
                                       ", a ", name_of(Cell::kKind), " was wanted"));
  if (known.options.labels != options.labels)
    throw InvalidArgumentError(str_cat("metric '", options.name, "' has other labels"));
  return static_cast<CellMap<Cell>&>(*metric);
}

DISTRIBUTE_INLINE Counter& CollectionRegistry::counter(const MetricOptions& options) {
  return find<CounterCell>(options);
}
DISTRIBUTE_INLINE Gauge& CollectionRegistry::gauge(const MetricOptions& options) {
  return find<GaugeCell>(options);
}
DISTRIBUTE_INLINE Sampler& CollectionRegistry::sampler(const MetricOptions& options) {
  return find<SamplerCell>(options);
}

DISTRIBUTE_INLINE std::vector<MetricFamily> CollectionRegistry::collect_metrics() const {
  const std::lock_guard lock(mutex_);
  std::vector<MetricFamily> families;
  for (const auto& [name, metric] : metrics_) families.push_back(metric->collect());
  return families;
}

}  // namespace distribute::monitoring
