#pragma once
/// All metrics of this library.

#include <distribute/base/config.hpp>
#include <distribute/base/monitoring.hpp>

#include <atomic>
#include <cstdint>
#include <string>

namespace distribute::monitoring {

/// Cells of one kind of collective over one transport.
struct CollectiveCells {
  CounterCell* calls = nullptr;
  CounterCell* time = nullptr;  // nanoseconds
  CounterCell* bytes = nullptr;
  CounterCell* sent = nullptr;  // null if the transport itself counts its bytes
  CounterCell* received = nullptr;
};

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

/// Cells of frequent metrics are members; those that are rare or have many labels are found in the
/// registry. Thread-safe; only collective() takes a lock.
struct LibraryMetrics {
  LibraryMetrics();
  LibraryMetrics(const LibraryMetrics&) = delete;

  /// Counts a step of the optimizer, and the time since the one before.
  void count_step() noexcept;
  CollectiveCells collective(const std::string& kind, const std::string& transport);

  CollectionRegistry registry;  // declared first, as the other members live in it

  CounterCell& train_steps;
  SamplerCell& step_seconds;
  CounterCell& input_examples;

  WaitCells wait_input, wait_collective, wait_parameter_server;

  Counter& collectives;       // by kind and transport
  Counter& collective_time;   // by kind and transport
  Counter& collective_bytes;  // by kind and transport
  Counter& transport_bytes;   // by service, transport and direction
  CounterCell& failed_collectives;
  TrafficCells collective_tcp, parameter_server_tcp;

  GaugeCell& queued_collectives;
  GaugeCell& prefetched_batches;
  GaugeCell& queued_closures;
  GaugeCell& running_closures;
  GaugeCell& unanswered_requests;  // to parameter servers
  Counter& closures;               // by result

  Counter& server_requests;  // by kind
  CounterCell& applied_pushes;
  CounterCell& stale_pushes;
  CounterCell& repeated_pushes;
  GaugeCell& stored_variables;
  GaugeCell& stored_bytes;

  Counter& checkpoint_saves;  // by result
  SamplerCell& checkpoint_seconds;
  Counter& checkpoint_restores;  // by result

  GaugeCell& cluster_tasks;
  CounterCell& refused_connections;
  Counter& last_steps;  // by the worker for which the others waited
  Counter& late_time;   // likewise
  Counter& log_lines;   // by level
  Gauge& task_info;     // 1 for this task: job and index

 private:
  std::atomic<int64_t> last_step_{0};  // nanoseconds of a steady clock
};

}  // namespace distribute::monitoring
