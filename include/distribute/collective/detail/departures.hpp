#pragma once
/// Ranks of a group that take part in nothing more.

#include <distribute/base/config.hpp>
#include <distribute/base/error.hpp>
#include <distribute/collective/operation.hpp>
#include <distribute/net/deadline.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <string>

namespace distribute::collective {

/// An operation waits for a rank whose task has left the job.
class RankLeftError : public UnavailableError {
 public:
  RankLeftError(const std::string& reason, int rank, const Operation& operation);
  /// The operation, for messages.
  const std::string& operation() const { return operation_; }

 private:
  std::string operation_;
};

/// What the job's runtime says about them; each transport looks here while it waits. Thread-safe.
class Departures {
 public:
  using Time = net::Deadline::Clock::time_point;

  /// `reason`: "worker 1 (10.0.0.3:2222) has left the job".
  void add(int rank, const std::string& reason);
  /// Quick, for loops that wait.
  bool any() const { return any_.load(std::memory_order_acquire); }
  bool has(int rank) const;
  /// Throws  RankLeftError, in the operation of rank `me`, when `rank` has departed.
  void throw_if_left(int rank, int me, const Operation& operation) const;
  /// The same a second after the departure and after `moved`, when bytes last came: what the rank
  /// has sent before may be on its way.
  void throw_if_silent(int rank, Time moved, int me, const Operation& operation) const;
  /// The same for an operation that waits for all ranks at once.
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
