#pragma once
/// Where the code counts what it does.

#include <distribute/base/config.hpp>
#include <distribute/base/process_state.hpp>

#include <chrono>
#include <cstdint>

namespace distribute::monitoring {

/// What this library counts. Thread-safe.
inline LibraryMetrics& metrics() { return process_state().metrics; }

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

}  // namespace distribute::monitoring
