#pragma once
/// Counters, gauges and samplers of a program, and the registry that contains them.

#include <distribute/base/config.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace distribute::monitoring {

struct MetricOptions {      // options of Metric
  std::string name;         // of letters, digits and "_"
  std::string description;  // one sentence
  std::vector<std::string> labels = {};
  double unit = 1;                  // value of one step of a counter or gauge, such as 1e-9
  std::vector<double> limits = {};  // of a sampler, rising
};

enum class MetricKind : uint8_t { Counter, Gauge, Sampler };  // kind of a metric

/// Number of a sampler's values up to each of its limits, not cumulative.
struct Histogram {
  std::vector<double> limits = {};   // upper limits; +Inf follows the last
  std::vector<int64_t> counts = {};  // one more than limits
  double sum = 0;
};

/// One metric with one point, as a registry passes it to exporters.
struct MetricFamily {
  struct Point {
    std::vector<std::string> labels = {};  // values, in the order of the options
    double value = 0;                      // of counters and gauges
    Histogram histogram = {};              // of samplers
  };
  MetricOptions options;
  MetricKind kind{};
  std::vector<Point> points = {};
};

/// A number that only grows. Thread-safe: one atomic addition, no lock.
/// Source  tensorflow::monitoring::CounterCell
class alignas(64) CounterCell {
 public:
  static constexpr MetricKind kKind = MetricKind::Counter;
  explicit CounterCell(const MetricOptions& options) : unit_(options.unit) {}
  void increment_by(int64_t step = 1) noexcept {
    value_.fetch_add(step, std::memory_order_relaxed);
  }
  int64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }
  void write(MetricFamily::Point& point) const { point.value = double(value()) * unit_; }

 private:
  std::atomic<int64_t> value_{0};
  const double unit_;
};

/// A number that goes up and down. Thread-safe without a lock.
/// Source  tensorflow::monitoring::GaugeCell
class alignas(64) GaugeCell {
 public:
  static constexpr MetricKind kKind = MetricKind::Gauge;
  explicit GaugeCell(const MetricOptions& options) : unit_(options.unit) {}
  void set(int64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  void add(int64_t change) noexcept { value_.fetch_add(change, std::memory_order_relaxed); }
  int64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }
  void write(MetricFamily::Point& point) const { point.value = double(value()) * unit_; }

 private:
  std::atomic<int64_t> value_{0};
  const double unit_;
};

/// Counts values by size. Thread-safe without a lock.
/// Source  tensorflow::monitoring::SamplerCell
class SamplerCell {
 public:
  static constexpr MetricKind kKind = MetricKind::Sampler;
  explicit SamplerCell(const MetricOptions& options);
  void add(double value) noexcept;
  Histogram value() const;
  void write(MetricFamily::Point& point) const { point.histogram = value(); }

 private:
  const std::vector<double> limits_;
  const std::unique_ptr<std::atomic<int64_t>[]> counts_;
  std::atomic<double> sum_{0};
};

/// Returns limits for a sampler: `scale`, `scale * growth`, ..., `count` of them.
/// Source  tensorflow::monitoring::Buckets::Exponential
std::vector<double> exponential_buckets(double scale, double growth, int count);

/// Throws  InvalidArgumentError for another number of values than there are labels.
void check_label_values(const MetricOptions& options, size_t count);

class Metric {  // a named metric with a cell for each set of labels
 public:
  virtual ~Metric() = default;
  /// Returns the metric with the current values of all its cells.
  virtual MetricFamily collect() const = 0;
};

/// The cells of one name, one for each combination of label values. Thread-safe; get_cell() takes a
/// lock, so frequent callers should keep the cell, which lives as long as the registry.
template <class Cell>
class CellMap : public Metric {
 public:
  explicit CellMap(MetricOptions options) : options_(std::move(options)) {}
  /// Throws  InvalidArgumentError when there are more or fewer values than labels.
  Cell& get_cell(const std::vector<std::string>& label_values = {}) {
    check_label_values(options_, label_values.size());
    const std::lock_guard lock(mutex_);
    std::unique_ptr<Cell>& cell = cells_[label_values];
    if (!cell) cell = std::make_unique<Cell>(options_);
    return *cell;
  }
  MetricFamily collect() const override {
    MetricFamily family{.options = options_, .kind = Cell::kKind};
    const std::lock_guard lock(mutex_);
    for (const auto& [labels, cell] : cells_)
      cell->write(family.points.emplace_back(MetricFamily::Point{.labels = labels}));
    return family;
  }

 private:
  const MetricOptions options_;
  mutable std::mutex mutex_;  // guards cells_
  std::map<std::vector<std::string>, std::unique_ptr<Cell>> cells_;
};

using Counter = CellMap<CounterCell>;
using Gauge = CellMap<GaugeCell>;
using Sampler = CellMap<SamplerCell>;

/// All metrics by name; owns them. Thread-safe.
/// Source  tensorflow::monitoring::CollectionRegistry
class CollectionRegistry {
 public:
  CollectionRegistry() = default;
  CollectionRegistry(const CollectionRegistry&) = delete;

  /// Returns the metric of this name, made at the first call.
  /// Throws  InvalidArgumentError for a bad name or label, and when the name belongs to another
  ///          kind or has other labels.
  Counter& counter(const MetricOptions& options);
  Gauge& gauge(const MetricOptions& options);
  /// Returns the sampler of this name, made at the first call.
  /// Throws  InvalidArgumentError as counter(), and for limits that do not rise.
  Sampler& sampler(const MetricOptions& options);

  /// Returns all current values, in the order of the names.
  std::vector<MetricFamily> collect_metrics() const;

 private:
  template <class Cell>
  CellMap<Cell>& find(const MetricOptions& options);

  mutable std::mutex mutex_;  // guards metrics_, from which nothing is removed
  std::map<std::string, std::unique_ptr<Metric>> metrics_;
};

}  // namespace distribute::monitoring
