#pragma once
#include <distribute/base/metrics.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/data/detail/autotune.hpp>
#include <distribute/data/detail/fruitless.hpp>
#include <distribute/data/detail/parallel_interleave.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

namespace distribute::data::data_internal {

/// The consumer's thread reads the input and takes elements in turn; workers open parts and read
/// ahead in them.
///
/// Invariants:
/// 1. A part is opened as soon as its predecessor has ended. Parts that end within one turn of the
///    cycle are replaced in order, so that each gets the element that it would get with one thread.
/// 2. Between its `busy` being set and cleared, only that worker touches a part's node and stream.
class ParallelInterleaveStream final : public BatchStream {
 public:
  ParallelInterleaveStream(std::unique_ptr<BatchStream> input, const NodeFunction& function,
                           const InterleaveOptions& options, const Pass& pass, int64_t num_threads,
                           std::unique_ptr<TunedThreads> tuned)
      : input_(std::move(input)),
        function_(function),
        options_(options),
        pass_(pass),
        num_threads_(tuned ? tuned->threads() : num_threads),
        tuned_(std::move(tuned)),
        parts_(size_t(options.cycle_length)) {}
  ~ParallelInterleaveStream() override {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }
  bool next(Batch& out) override {
    begin();
    FruitlessSteps fruitless(kEmptyParts);
    while (num_open() > 0) {
      Part* const part = part_to_read();
      if (!part) {
        next_turn();
        continue;
      }
      Ready ready = take(*part);
      if (ready.error) std::rethrow_exception(ready.error);
      if (ready.at_end) {
        close_and_open_next(*part);
        next_turn();
        fruitless.add();
        continue;
      }
      if (++in_block_ == options_.block_length) next_turn();
      out = std::move(ready.element);
      return true;
    }
    return false;
  }
  void save(StateWriter& state) const override {
    for (int64_t value : {num_taken_, int64_t(turn_), in_block_}) state.put(value);
    std::unique_lock lock(mutex_);
    for (const Part& part : parts_) {
      if (part.number >= 0 && !workers_.empty())
        changed_.wait(lock, [&] { return part.is_open || part.finished; });
      state.put(part.is_open ? part.number : -1);
      if (part.is_open) state.put(part.position);
    }
  }
  void restore(StateReader& state) override {
    const int64_t taken = state.get();
    turn_ = size_t(state.get(0, int64_t(parts_.size()) - 1));
    in_block_ = state.get(0, options_.block_length - 1);
    std::map<int64_t, Batch> read_ahead;
    for (Part& part : parts_) {
      const int64_t number = state.get(-1, taken - 1);
      if (number < 0) continue;
      for (Batch element; num_taken_ <= number; read_ahead[num_taken_++] = element)
        if (!input_->next(element)) fail_behind_end();
      part.number = number;
      part.argument = read_ahead.at(number);
      open(part);
      part.stream->restore(state);
      part.position = state_of(*part.stream);
    }
    if (input_->skip(taken - num_taken_) != taken - num_taken_) fail_behind_end();
    num_taken_ = taken;
  }

 private:
  struct Ready {
    Batch element = {};
    std::exception_ptr error = {};
    bool at_end = false;
    std::vector<int64_t> state_after = {};
  };
  struct Part {
    int64_t number = -1;  // of the input's element; -1: none
    Batch argument;
    NodePtr node;
    std::unique_ptr<BatchStream> stream;  // reads from `node`, so it is destroyed first
    std::vector<int64_t> position;        // after the last element that was handed out
    std::deque<Ready> buffer;
    bool busy = false;      // a worker uses node and stream
    bool is_open = false;   // position is known
    bool finished = false;  // nothing follows the buffer's elements
  };

  [[noreturn]] static void fail_behind_end() {
    throw InvalidArgumentError("the saved position lies behind the end of the dataset");
  }
  static std::vector<int64_t> state_of(const BatchStream& stream) {
    StateWriter state;
    stream.save(state);
    return state.values();
  }
  void open(Part& part) {
    part.node = function_(part.argument);
    part.stream = part.node->elements(pass_.child(part.number));
    part.position = state_of(*part.stream);
    part.is_open = true;
  }
  void next_turn() {
    std::lock_guard lock(mutex_);
    in_block_ = 0;
    turn_ = (turn_ + 1) % parts_.size();
  }
  int64_t num_open() const {
    return std::count_if(parts_.begin(), parts_.end(), [](const Part& p) { return p.number >= 0; });
  }
  /// Gives every free part an element of the input, and starts the workers.
  void begin() {
    if (!workers_.empty()) return;
    for (size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[(turn_ + i) % parts_.size()];
      if (part.number < 0) assign(part);
    }
    workers_.push_back(base_internal::start_thread("interleave", [this] { work(); }));
    base_internal::start_helpers(workers_, int(num_threads_) - 1, "interleave", [this] { work(); });
  }
  void assign(Part& part) {
    Batch element;
    if (input_ended_ || !input_->next(element)) {
      input_ended_ = true;
      return;
    }
    std::lock_guard lock(mutex_);
    part.argument = std::move(element);
    part.number = num_taken_++;
  }
  void close_and_open_next(Part& part) {
    {
      std::lock_guard lock(mutex_);
      part.stream.reset();
      part = Part();
    }
    assign(part);
    changed_.notify_all();
  }
  /// Gives the part whose turn it is, once it has an element; null if there is none. If the order
  /// is free, the next part with an element is taken.
  Part* part_to_read() {
    std::unique_lock lock(mutex_);
    if (*options_.deterministic) {
      Part& part = parts_[turn_];
      if (part.number < 0) return nullptr;
      wait_for(lock, [&] { return !part.buffer.empty(); });
      return &part;
    }
    size_t found = 0;
    wait_for(lock, [&] {
      for (size_t i = 0; i < parts_.size(); ++i) {
        found = (turn_ + i) % parts_.size();
        if (!parts_[found].buffer.empty()) return true;
      }
      return false;
    });
    if (found != turn_) in_block_ = 0;
    turn_ = found;
    return &parts_[found];
  }
  template <typename Condition>
  void wait_for(std::unique_lock<std::mutex>& lock, const Condition& condition) {
    const bool waits = !condition();
    const monitoring::Stopwatch watch;
    if (waits) changed_.wait(lock, condition);
    if (!tuned_ || !tuned_->count(std::chrono::nanoseconds(waits ? watch.nanoseconds() : 0)))
      return;
    num_threads_ = tuned_->threads();
    if (const int64_t more = num_threads_ - int64_t(workers_.size()); more > 0)
      base_internal::start_helpers(workers_, int(more), "interleave", [this] { work(); });
    changed_.notify_all();
  }
  Ready take(Part& part) {
    std::lock_guard lock(mutex_);
    Ready ready = std::move(part.buffer.front());
    part.buffer.pop_front();
    part.position = std::move(ready.state_after);
    changed_.notify_all();
    return ready;
  }

  /// Chooses a part to read ahead in; parts whose turn is near come first. Call it with the mutex
  /// locked.
  Part* part_to_fill() {
    const size_t room = size_t(std::clamp<int64_t>(options_.block_length, 2, 16));
    for (size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[(turn_ + i) % parts_.size()];
      if (part.number >= 0 && !part.busy && !part.finished && part.buffer.size() < room)
        return &part;
    }
    return nullptr;
  }
  /// Reads one element. Call it without the mutex.
  Ready read(Part& part) {
    Ready ready;
    try {
      ready.at_end = !part.stream->next(ready.element);
    } catch (...) {
      ready.error = std::current_exception();
    }
    ready.state_after = state_of(*part.stream);
    return ready;
  }
  void work() {
    set_intra_op_threads(1);
    std::unique_lock lock(mutex_);
    while (true) {
      Part* part = nullptr;
      changed_.wait(lock, [&] {
        return stop_ || (busy_ < num_threads_ && (part = part_to_fill()) != nullptr);
      });
      if (stop_) return;
      part->busy = true;
      ++busy_;
      if (part->is_open)
        fill(*part, lock);
      else
        open_as_worker(*part, lock);
      part->busy = false;
      --busy_;
      changed_.notify_all();
    }
  }
  void fill(Part& part, std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    Ready ready = read(part);
    lock.lock();
    part.finished = ready.at_end;
    part.buffer.push_back(std::move(ready));
  }
  /// Opens a part; if that fails, the part gives the error and ends.
  void open_as_worker(Part& part, std::unique_lock<std::mutex>& lock) {
    std::exception_ptr error;
    Part opened;
    opened.number = part.number;
    opened.argument = part.argument;
    lock.unlock();
    try {
      open(opened);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error) {
      part.finished = true;
      part.buffer.push_back({.error = error});
      part.buffer.push_back({.at_end = true});
      return;
    }
    part.node = std::move(opened.node);
    part.stream = std::move(opened.stream);
    part.position = std::move(opened.position);
    part.is_open = true;
  }

  std::unique_ptr<BatchStream> input_;
  const NodeFunction& function_;
  InterleaveOptions options_;
  Pass pass_;
  int64_t num_threads_, busy_ = 0;  // threads that may read, and that do; guarded by mutex_
  std::unique_ptr<TunedThreads> tuned_;
  mutable std::mutex mutex_;  // guards parts_, turn_ towards the workers, and stop_
  mutable std::condition_variable changed_;
  std::vector<Part> parts_;
  size_t turn_ = 0;
  int64_t in_block_ = 0, num_taken_ = 0;
  bool input_ended_ = false, stop_ = false;
  std::vector<std::thread> workers_;
};

DISTRIBUTE_INLINE std::unique_ptr<BatchStream> parallel_interleave(
    std::unique_ptr<BatchStream> input, const NodeFunction& function,
    const InterleaveOptions& options, const Pass& pass, const StageThreads& threads) {
  return std::make_unique<ParallelInterleaveStream>(
      std::move(input), function, options, pass, threads.most,
      threads.tuned ? std::make_unique<TunedThreads>(tuning_limits(pass), threads.most) : nullptr);
}

}  // namespace distribute::data::data_internal
