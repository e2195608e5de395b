#pragma once
/// The registry of the process's metrics, and those of the base: steps and lines of the log.

#include <distribute/base/config.hpp>
#include <distribute/base/detail/metric_maker.hpp>

#include <atomic>
#include <cstdint>

namespace distribute::monitoring {

/// Cells of frequent metrics are members; those that are rare or have many labels are found in the
/// registry. Thread-safe without a lock.
struct LibraryMetrics {
  LibraryMetrics();
  LibraryMetrics(const LibraryMetrics&) = delete;

  /// Counts a step of the optimizer, and the time since the one before.
  void count_step() noexcept;

  CollectionRegistry registry;  // declared first, as the other members live in it

  CounterCell& train_steps;
  SamplerCell& step_seconds;
  Counter& log_lines;  // by level

 private:
  std::atomic<int64_t> last_step_{0};  // nanoseconds of a steady clock
};

}  // namespace distribute::monitoring
