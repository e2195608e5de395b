#pragma once
/// The last collectives of a rank: what to look at when a job hangs.

#include <distribute/base/config.hpp>
#include <distribute/collective/operation.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace distribute::collective {

/// Keeps the last `capacity` operations. Thread-safe.
class FlightRecorder {
 public:
  enum class State : uint8_t { Queued, Running, Done, Failed };
  using Clock = std::chrono::steady_clock;

  struct Record {
    Signature signature;
    int64_t bytes = 0;
    State state = State::Queued;
    Clock::time_point queued, started, ended;
  };

  explicit FlightRecorder(size_t capacity = 1000) : records_(capacity) {}

  /// Returns the number under which start() and end() find the record, while it is kept.
  uint64_t queue(const Operation& operation);
  void start(uint64_t number);
  void end(uint64_t number, bool failed);

  /// Oldest first.
  std::vector<Record> records() const;
  /// Nothing when it is not kept any more.
  std::optional<Record> record(uint64_t number) const;
  /// The one that runs now; nothing when none does.
  std::optional<Record> running() const;
  /// The newest that has begun, in one line: "in all_reduce(sum) #12 float32 x 1000 for 3.2 s".
  std::string position() const;
  /// The last `lines` records as a table, with times before now.
  std::string table(size_t lines) const;

 private:
  Record* find(uint64_t number);

  mutable std::mutex mutex_;  // guards all below
  std::vector<Record> records_;
  uint64_t next_ = 0;
};

}  // namespace distribute::collective
