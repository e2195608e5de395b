#pragma once
/// How many threads and how large buffers the stages of pipelines have, where kAutotune asks for
/// them, found by measurement within budgets that all pipelines of the process share.

#include <distribute/base/config.hpp>
#include <distribute/data/distribute_options.hpp>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace distribute::data::data_internal {

/// A number that is shared, such as threads or bytes. Thread-safe.
class Budget {
 public:
  /// Takes up to `wanted`, as far as all takers together stay within `limit`; returns how much.
  int64_t take(int64_t wanted, int64_t limit);
  /// Takes `amount` whatever others have.
  void take_always(int64_t amount) { take(amount, INT64_MAX); }
  void give_back(int64_t amount) { take(-amount, INT64_MAX); }
  int64_t taken() const;

 private:
  mutable std::mutex mutex_;  // guards taken_
  int64_t taken_ = 0;
};

/// Holds what the stages of this process have taken: threads, and bytes of buffers.
struct AutotuneBudgets {
  Budget threads, bytes;
};

/// The options of a pass as numbers.
struct TuningLimits {
  bool enabled = true;
  int64_t threads = 1, bytes = 0;  // of all stages together
  int64_t initial_threads = 1, least_threads = 1;
};
TuningLimits tuning_limits(const Pass& pass);

/// The most threads of a stage with that many parallel calls, and whether their number is tuned.
struct StageThreads {
  int64_t most = 1;
  bool tuned = false;
};
StageThreads threads_of_stage(int64_t num_parallel_calls, int64_t most, const Pass& pass);

/// Decides about a stage's number of threads after each measurement: one more while its consumer
/// waits and the last one has made it faster, one fewer while it never waits. A step that was wrong
/// is taken back, and the next try then comes later. Thread-compatible.
class ThreadSearch {
 public:
  ThreadSearch(int64_t first, int64_t least, int64_t most);
  int64_t threads() const { return threads_; }
  /// Takes the speed since the last call, and the part of the time that the consumer waited.
  /// `grow` gives threads, up to as many as it is asked for.
  template <typename Grow>
  void measured(double elements_per_second, double wait_share, Grow&& grow) {
    if (judge(elements_per_second) || resting()) return;
    const int64_t wish = wished(wait_share);
    change(wish > 0 ? grow(wish) : wish, elements_per_second);
  }

 private:
  bool judge(double elements_per_second);
  bool resting();
  int64_t wished(double wait_share) const;
  void change(int64_t by, double elements_per_second);

  int64_t threads_, least_, most_;
  int64_t last_change_ = 0, rest_ = 0, next_rest_ = 1;
  double speed_before_ = 0;
};

/// The threads of a stage that runs, with their part of the budget. The consumer's thread alone
/// calls it.
class TunedThreads {
 public:
  /// At most `most` threads.
  TunedThreads(const TuningLimits& limits, int64_t most);
  ~TunedThreads();
  TunedThreads(const TunedThreads&) = delete;

  int64_t threads() const { return search_.threads(); }
  /// Counts an element, for which the consumer has waited that long. Returns whether the number of
  /// threads has changed.
  bool count(std::chrono::nanoseconds waited);

 private:
  using Clock = std::chrono::steady_clock;
  const int64_t budget_;
  int64_t taken_ = 0;
  ThreadSearch search_;
  Clock::time_point began_ = Clock::now();
  std::chrono::nanoseconds waited_{0};
  int64_t elements_ = 0;
};

/// The size of a buffer: it doubles when the consumer has found it empty after it was full, as
/// tf.data's prefetch. Thread-compatible.
class TunedBuffer {
 public:
  explicit TunedBuffer(int64_t byte_budget) : budget_(byte_budget) {}
  ~TunedBuffer();
  TunedBuffer(const TunedBuffer&) = delete;

  int64_t size() const { return size_; }
  /// The consumer comes, and finds `ready` elements of about that many bytes each.
  void consumed(int64_t ready, int64_t bytes_of_element);

 private:
  const int64_t budget_;
  int64_t size_ = 2, taken_ = 0;
  bool was_full_ = false;
};

/// Limits of a pass that all its transformations share. Thread-safe.
class PassThreads {
 public:
  explicit PassThreads(const Options& options);
  const AutotuneOptions& autotune() const { return autotune_; }
  /// Calls a map's function, once there is a place for it.
  Batch call(const MapFunction& function, const Batch& element);

 private:
  const AutotuneOptions autotune_;
  const int64_t intra_op_, most_calls_;  // 0: not limited
  std::mutex mutex_;                     // guards calls_
  std::condition_variable changed_;
  int64_t calls_ = 0;
};

/// Calls a map's function within the limits of the pass.
inline Batch call_within(const Pass& pass, const MapFunction& function, const Batch& element) {
  return pass.threads ? pass.threads->call(function, element) : function(element);
}

}  // namespace distribute::data::data_internal
