#pragma once
/// Records the last collectives of a rank, to find the cause when a job hangs.

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

  /// Returns the records, oldest first.
  std::vector<Record> records() const;
  /// Returns nullopt when the record is not kept any more.
  std::optional<Record> record(uint64_t number) const;
  /// Returns the running operation; nullopt when none runs.
  std::optional<Record> running() const;
  /// Describes the newest operation that has begun, in one line: "in all_reduce(sum) #12 float32 x
  /// 1000 for 3.2 s".
  std::string position() const;
  /// Formats the last `lines` records as a table, with times relative to now.
  std::string table(size_t lines) const;

 private:
  Record* find(uint64_t number);

  mutable std::mutex mutex_;  // guards the members below
  std::vector<Record> records_;
  uint64_t next_ = 0;
};

}  // namespace distribute::collective
