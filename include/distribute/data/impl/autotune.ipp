#pragma once
#include <distribute/base/limits.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/data/detail/autotune.hpp>

#include <algorithm>

#include <unistd.h>

namespace distribute::data::data_internal {

DISTRIBUTE_INLINE int64_t Budget::take(int64_t wanted, int64_t limit) {
  const std::lock_guard lock(mutex_);
  const int64_t given = std::min(wanted, std::max<int64_t>(0, limit - taken_));
  taken_ += given;
  return given;
}

DISTRIBUTE_INLINE int64_t Budget::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

/// Half of what is free when it is asked for the first time.
DISTRIBUTE_INLINE int64_t default_byte_budget() {
  static const int64_t bytes = [] {
    const int64_t machine = int64_t(::sysconf(_SC_AVPHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
    const auto group = memory_room();
    return std::max<int64_t>(0, group ? std::min(machine, group->free()) : machine) / 2;
  }();
  return bytes;
}

DISTRIBUTE_INLINE TuningLimits tuning_limits(const Pass& pass) {
  AutotuneOptions options;
  if (pass.threads) options = pass.threads->autotune();
  TuningLimits limits{.enabled = options.enabled.value_or(true),
                      .threads = options.cpu_budget.value_or(num_threads_for(kAutotune)),
                      .bytes = options.ram_budget ? *options.ram_budget : default_byte_budget()};
  limits.least_threads = options.min_parallelism.value_or(1);
  limits.initial_threads = std::max(limits.least_threads, options.initial_parallelism.value_or(1));
  return limits;
}

DISTRIBUTE_INLINE StageThreads threads_of_stage(int64_t num_parallel_calls, int64_t most,
                                                const Pass& pass) {
  if (num_parallel_calls != kAutotune) return {std::min(num_parallel_calls, most), false};
  const TuningLimits limits = tuning_limits(pass);
  if (!limits.enabled) return {std::min(num_threads_for(kAutotune), most), false};
  const int64_t threads = std::min(std::max(limits.threads, limits.initial_threads), most);
  return {threads, threads > 1};
}

DISTRIBUTE_INLINE ThreadSearch::ThreadSearch(int64_t first, int64_t least, int64_t most)
    : threads_(std::min(first, most)), least_(std::min(least, most)), most_(most) {}

/// Takes a step back that was wrong; returns whether it was.
DISTRIBUTE_INLINE bool ThreadSearch::judge(double elements_per_second) {
  constexpr double kFaster = 1.03, kSlower = 0.97;
  constexpr int64_t kLongestRest = 64;
  const double ratio = elements_per_second / std::max(speed_before_, 1e-9);
  const bool wrong = (last_change_ > 0 && ratio < kFaster) || (last_change_ < 0 && ratio < kSlower);
  if (wrong) {
    threads_ -= last_change_;
    rest_ = next_rest_ = std::min(2 * next_rest_, kLongestRest);
  } else if (last_change_ != 0) {
    next_rest_ = 1;
  }
  last_change_ = 0;
  return wrong;
}

DISTRIBUTE_INLINE bool ThreadSearch::resting() { return rest_ > 0 && rest_-- > 0; }

DISTRIBUTE_INLINE int64_t ThreadSearch::wished(double wait_share) const {
  constexpr double kWaits = 0.1, kNeverWaits = 0.01;
  if (wait_share > kWaits) return std::min(std::max<int64_t>(1, threads_ / 2), most_ - threads_);
  return wait_share < kNeverWaits && threads_ > least_ ? -1 : 0;
}

DISTRIBUTE_INLINE void ThreadSearch::change(int64_t by, double elements_per_second) {
  threads_ += by;
  last_change_ = by;
  speed_before_ = elements_per_second;
}

/// A stage has the threads that it begins with whatever others have.
DISTRIBUTE_INLINE TunedThreads::TunedThreads(const TuningLimits& limits, int64_t most)
    : budget_(limits.threads),
      search_(limits.initial_threads, limits.least_threads, std::max<int64_t>(1, most)) {
  taken_ = search_.threads();
  in_process<AutotuneBudgets>().threads.take_always(taken_);
}

DISTRIBUTE_INLINE TunedThreads::~TunedThreads() {
  in_process<AutotuneBudgets>().threads.give_back(taken_);
}

DISTRIBUTE_INLINE bool TunedThreads::count(std::chrono::nanoseconds waited) {
  constexpr int64_t kElements = 16;
  constexpr std::chrono::milliseconds kLongEnough{20};
  waited_ += waited;
  if (++elements_ < kElements) return false;
  const auto now = Clock::now();
  if (now - began_ < kLongEnough) return false;
  const double seconds = std::chrono::duration<double>(now - began_).count();
  const double wait_share = std::chrono::duration<double>(waited_).count() / seconds;
  Budget& all = in_process<AutotuneBudgets>().threads;
  const int64_t before = taken_;
  search_.measured(double(elements_) / seconds, wait_share, [&](int64_t wanted) {
    const int64_t given = all.take(wanted, budget_);
    taken_ += given;
    return given;
  });
  all.give_back(taken_ - search_.threads());
  taken_ = search_.threads();
  began_ = now;
  waited_ = {};
  elements_ = 0;
  return taken_ != before;
}

DISTRIBUTE_INLINE TunedBuffer::~TunedBuffer() {
  in_process<AutotuneBudgets>().bytes.give_back(taken_);
}

DISTRIBUTE_INLINE void TunedBuffer::consumed(int64_t ready, int64_t bytes_of_element) {
  constexpr int64_t kMostElements = 512;
  was_full_ = was_full_ || ready >= size_;
  if (ready > 0 || !was_full_ || size_ >= kMostElements) return;
  Budget& all = in_process<AutotuneBudgets>().bytes;
  const int64_t more = size_ * bytes_of_element;
  const int64_t given = all.take(more, budget_);
  taken_ += given;
  was_full_ = false;
  if (given == more) {
    size_ *= 2;
    return;
  }
  all.give_back(given);
  taken_ -= given;
}

DISTRIBUTE_INLINE PassThreads::PassThreads(const Options& options)
    : autotune_(options.autotune),
      intra_op_(options.threading.max_intra_op_parallelism.value_or(0)),
      most_calls_([&]() -> int64_t {
        const auto& size = options.threading.private_threadpool_size;
        return size && *size == 0 ? usable_cores() : size.value_or(0);
      }()) {}

/// Sets the threads of this thread's operations while it lives.
class IntraOpScope {
 public:
  explicit IntraOpScope(int64_t threads) : before_(threads > 0 ? intra_op_threads() : 0) {
    if (threads > 0) set_intra_op_threads(int(threads));
  }
  ~IntraOpScope() {
    if (before_ > 0) set_intra_op_threads(before_);
  }
  IntraOpScope(const IntraOpScope&) = delete;

 private:
  const int before_;
};

DISTRIBUTE_INLINE Batch PassThreads::call(const MapFunction& function, const Batch& element) {
  const IntraOpScope scope(intra_op_);
  if (most_calls_ == 0) return function(element);
  struct Place {
    explicit Place(PassThreads& of) : threads(of) {
      std::unique_lock lock(threads.mutex_);
      threads.changed_.wait(lock, [&] { return threads.calls_ < threads.most_calls_; });
      ++threads.calls_;
    }
    ~Place() {
      const std::lock_guard lock(threads.mutex_);
      --threads.calls_;
      threads.changed_.notify_one();
    }
    PassThreads& threads;
  };
  const Place place(*this);
  return function(element);
}

}  // namespace distribute::data::data_internal
