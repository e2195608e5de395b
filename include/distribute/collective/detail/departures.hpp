#pragma once
/// Ranks of a group that have left the job.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/collective/operation.hpp>
#include <distribute/net/deadline.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <string>

namespace distribute::collective {

/// Thrown when an operation waits for a rank whose task has left the job.
class RankLeftError : public UnavailableError {
 public:
  RankLeftError(const std::string& reason, int rank, const Operation& operation);
  /// Returns the operation, for messages.
  const std::string& operation() const { return operation_; }

 private:
  std::string operation_;
};

/// Ranks that have left, as the job's runtime reports; each transport checks it while it waits.
/// Thread-safe.
class Departures {
 public:
  using Time = net::Deadline::Clock::time_point;

  /// Adds a rank. `reason` is a text such as "worker 1 (10.0.0.3:2222) has left the job".
  void add(int rank, const std::string& reason);
  /// Whether there are any; fast enough for loops that wait.
  bool any() const { return any_.load(std::memory_order_acquire); }
  bool has(int rank) const;
  /// Throws  RankLeftError, in the operation of rank `me`, when `rank` has departed.
  void throw_if_left(int rank, int me, const Operation& operation) const;
  /// Throws the same one second after the departure and after `moved`, the time of the last bytes,
  /// as bytes that the rank has sent before may still arrive.
  void throw_if_silent(int rank, Time moved, int me, const Operation& operation) const;
  /// Throws the same for an operation that waits for all ranks at once.
  void throw_if_any_silent(Time moved, int me, const Operation& operation) const;

 private:
  struct Departure {
    std::string reason;
    Time told;
    bool silent_since(Time moved) const;
  };

  std::atomic<bool> any_{false};
  mutable std::mutex mutex_;  // guards all_
  std::map<int, Departure> all_;
};

}  // namespace distribute::collective
