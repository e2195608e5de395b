#pragma once
/// An event file on an object store, written from a thread of its own: training never waits for it.

#include <distribute/io/tfrecord.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace distribute::summary_internal {

/// Some records and their steps.
struct RecordSpan {
  int64_t count = 0, first_step = 0, last_step = 0;
  void add(const RecordSpan& more);
};

/// Records wait in a queue until the thread has written the whole file anew with them. Thread-safe.
class StoreEventFile {
 public:
  /// `max_waiting`: records that wait for the store at most.
  StoreEventFile(std::string path, io::RecordWriter file, std::chrono::milliseconds flush_every,
                 int64_t max_waiting);
  StoreEventFile(const StoreEventFile&) = delete;
  StoreEventFile& operator=(const StoreEventFile&) = delete;
  /// Tries once more where something is left; records that are lost are a warning.
  ~StoreEventFile();

  /// Drops the record where the queue is full, and after close().
  /// Throws  what the last try said, where that will not pass.
  void write(int64_t step, std::string record);
  /// Asks for a try.
  void start_flush();
  /// Blocks  until a try that began after the call has ended, and throws its error.
  void flush();
  /// Blocks  until all is written, the time is over or the store says what will not pass, and in
  ///         any case for a try that is under way.
  /// Throws  the last error, or ResourceExhaustedError where the queue was full; both name steps.
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
  io::RecordWriter file_;  // the thread's own

  std::mutex mutex_;  // guards all below but the thread
  std::condition_variable changed_;
  std::vector<std::string> queue_;
  RecordSpan queued_, staged_, dropped_;  // staged: in the file here, not yet on the store
  int64_t asked_ = 0, answered_ = 0;      // flushes
  Clock::time_point due_ = kNever;        // of the next try
  Clock::duration interval_, pause_;      // between tries; after one that failed
  Clock::time_point deadline_ = kNever;   // of close()
  bool closing_ = false, ended_ = false;
  absl::Status last_;  // what the last try said
  std::thread thread_;
};

}  // namespace distribute::summary_internal
