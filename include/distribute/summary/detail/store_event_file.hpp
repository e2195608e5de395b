#pragma once
/// An event file on an object store. A thread of its own writes it, so that training never waits
/// for the store.

#include <distribute/io/tfrecord.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace distribute::summary_internal {

/// Number of some records, and the steps of the first and last of them.
struct RecordSpan {
  int64_t count = 0, first_step = 0, last_step = 0;
  void add(const RecordSpan& more);
};

/// Queues records for a thread that writes the whole file anew. Thread-safe.
///
/// Invariants, whenever the mutex is free and no write is under way:
/// 1. Each accepted record is in the queue (queued_), in the local file but not yet on the store
///    (staged_), on the store, or counted as lost (dropped_).
/// 2. Only the thread touches file_ and talks to the store.
/// 3. answered_ <= asked_; a flush with number n has ended when answered_ >= n.
class StoreEventFile {
 public:
  /// `max_waiting` is the largest number of records that may wait for the store.
  StoreEventFile(std::string path, io::RecordWriter file, std::chrono::milliseconds flush_every,
                 int64_t max_waiting);
  StoreEventFile(const StoreEventFile&) = delete;
  StoreEventFile& operator=(const StoreEventFile&) = delete;
  /// Tries once more when records are left; lost records are logged as a warning.
  ~StoreEventFile();

  /// Queues the record; drops it when the queue is full, and after close().
  /// Throws  the error of the last write when a later one cannot succeed either.
  void write(int64_t step, std::string record);
  /// Asks the thread to write the file now.
  void start_flush();
  /// Blocks  until a write that began after the call has ended.
  /// Throws  the error of that write.
  void flush();
  /// Blocks  until all records are written, the time is over, or the store reports an error that
  ///         cannot pass; a write that is under way is always waited for.
  /// Throws  the last error, or ResourceExhaustedError when the queue was full; both name the steps
  ///         that are lost.
  void close(double seconds);

 private:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;
  static constexpr Clock::time_point kNever = Clock::time_point::max();

  void run();
  void try_once(Lock& lock);
  absl::Status put(const std::vector<std::string>& records);
  void plan_next(Clock::duration took);
  bool is_done() const;
  absl::Status end(double seconds);

  const std::string path_;
  const Clock::duration flush_every_;
  const int64_t max_waiting_;
  io::RecordWriter file_;  // used by the thread alone

  std::mutex mutex_;  // guards all below except thread_
  std::condition_variable changed_;
  std::vector<std::string> queue_;
  RecordSpan queued_, staged_, dropped_;  // staged: in the local file, not yet on the store
  int64_t asked_ = 0, answered_ = 0;      // numbers of the last flush asked for and ended
  Clock::time_point due_ = kNever;        // time of the next write
  Clock::duration interval_, pause_;      // between writes; after one that failed
  Clock::time_point deadline_ = kNever;   // of close(), after which writes end
  bool closing_ = false, ended_ = false;
  absl::Status last_;  // status of the last write
  std::thread thread_;
};

}  // namespace distribute::summary_internal
