#pragma once
#include <distribute/base/metrics.hpp>
#include <distribute/base/threads.hpp>
#include <distribute/data/detail/autotune.hpp>
#include <distribute/data/detail/fruitless.hpp>
#include <distribute/data/detail/stateful.hpp>
#include <distribute/data/node.hpp>

#include <distribute/base/limits.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/device/detail/device_state.hpp>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <string_view>
#include <thread>

namespace distribute::data {

namespace data_internal {

class MapStream final : public OneToOneStream<Batch> {
 public:
  MapStream(std::unique_ptr<BatchStream> input, const MapFunction& function, const Pass& pass)
      : OneToOneStream(std::move(input)), function_(function), pass_(pass) {}
  bool next(Batch& out) override {
    Batch element;
    if (!input().next(element)) return false;
    out = call_within(pass_, function_, element);
    return true;
  }

 private:
  const MapFunction& function_;
  const Pass pass_;
};

/// The consumer's thread reads the input and takes results, in order or as they become ready;
/// workers only call the function. Threads start with the first element.
///
/// Invariants:
/// 1. window_ holds the tasks in the order of the input; only the consumer touches it. Its first
///    task is not given yet. In order, none is.
/// 2. A task belongs to a worker until `done` is true, then to the consumer.
class ParallelMapStream final : public BatchStream {
 public:
  /// `tuned` finds the number of threads; without it the number is fixed.
  ParallelMapStream(std::unique_ptr<BatchStream> input, const MapFunction& function,
                    const Pass& pass, int64_t num_threads, bool in_order,
                    std::unique_ptr<TunedThreads> tuned)
      : input_(std::move(input)),
        function_(function),
        pass_(pass),
        num_threads_(tuned ? tuned->threads() : num_threads),
        in_order_(in_order),
        tuned_(std::move(tuned)) {}
  ~ParallelMapStream() override {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }
  bool next(Batch& out) override {
    fill();
    if (window_.empty()) return false;
    const std::shared_ptr<Task> task = finished_task();
    give(*task);
    if (task->error) std::rethrow_exception(task->error);
    out = std::move(task->value);
    return true;
  }
  int64_t skip(int64_t count) override {
    int64_t done = 0;
    for (; done < count && !window_.empty(); ++done) give(*window_.front());
    return done + input_->skip(count - done);
  }
  void save(StateWriter& state) const override {
    if (!in_order_) {
      state.put(int64_t(window_.size()));
      for (const auto& task : window_) state.put(task->given);
    }
    if (window_.empty())
      input_->save(state);
    else
      state.put(window_.front()->state_before);
  }
  void restore(StateReader& state) override {
    std::vector<bool> given(in_order_ ? 0 : size_t(state.get(0, kLongestOfAll)));
    for (size_t i = 0; i < given.size(); ++i) given[i] = state.get(0, 1);
    input_->restore(state);
    for (const bool one : given)
      if (!read_ahead(one))
        throw InvalidArgumentError("the saved position lies behind the end of the dataset");
  }

 private:
  static constexpr int64_t kLongestWindow = 64;  // tasks for each thread, given ones included
  static constexpr int64_t kLongestOfAll = kLongestWindow << 14;  // with any number of threads

  struct Task {
    std::vector<int64_t> state_before;  // state of the input
    Batch value;                        // first the argument, then the result
    std::exception_ptr error;
    bool given = false;
    bool done = false;  // guarded by mutex_; before it is true a worker owns the rest
  };

  void fill() {
    while (num_waiting_ < 2 * num_threads_ &&
           int64_t(window_.size()) < kLongestWindow * num_threads_ &&
           (window_.empty() || host_memory_shortage().empty()))
      if (!read_ahead(false)) return;
  }
  /// Takes an element of the input and hands it to a worker, unless its result was given before a
  /// restored position. Returns false at the end.
  bool read_ahead(bool given) {
    auto task = std::make_shared<Task>();
    StateWriter before;
    input_->save(before);
    task->state_before = before.values();
    task->given = given;
    try {
      if (!input_->next(task->value)) return false;
    } catch (...) {
      task->error = std::current_exception();
      task->done = true;
    }
    window_.push_back(task);
    if (given) return true;
    ++num_waiting_;
    if (!task->done) hand_out(task);
    return true;
  }
  /// Waits for the first task, or for any task that is not given yet.
  std::shared_ptr<Task> finished_task() {
    std::unique_lock lock(mutex_);
    std::shared_ptr<Task> found;
    const auto find = [&] {
      for (const auto& task : window_) {
        if (!task->given && task->done) found = task;
        if (found || in_order_) break;
      }
      return found != nullptr;
    };
    const bool waits = !find();
    const monitoring::Stopwatch watch;
    if (waits) changed_.wait(lock, find);
    if (tuned_ && tuned_->count(std::chrono::nanoseconds(waits ? watch.nanoseconds() : 0)))
      use_threads(tuned_->threads());
    return found;
  }
  /// Call it with the mutex locked. Threads beyond the number sleep.
  void use_threads(int64_t threads) {
    num_threads_ = threads;
    if (const int64_t more = threads - int64_t(workers_.size()); more > 0)
      base_internal::start_helpers(workers_, int(more), "map", [this] { work(); });
    changed_.notify_all();
  }
  void give(Task& task) {
    task.given = true;
    --num_waiting_;
    while (!window_.empty() && window_.front()->given) window_.pop_front();
  }
  void hand_out(std::shared_ptr<Task> task) {
    {
      std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(task));
    }
    changed_.notify_all();
    if (!workers_.empty()) return;
    workers_.push_back(base_internal::start_thread("map", [this] { work(); }));
    base_internal::start_helpers(workers_, int(num_threads_) - 1, "map", [this] { work(); });
  }
  void work() {
    set_intra_op_threads(1);
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stop_ || (!waiting_.empty() && busy_ < num_threads_); });
      if (stop_) return;
      const std::shared_ptr<Task> task = std::move(waiting_.front());
      waiting_.pop_front();
      ++busy_;
      lock.unlock();
      try {
        task->value = call_within(pass_, function_, task->value);
      } catch (...) {
        task->error = std::current_exception();
      }
      lock.lock();
      --busy_;
      task->done = true;
      changed_.notify_all();
    }
  }

  std::unique_ptr<BatchStream> input_;
  const MapFunction& function_;
  const Pass pass_;
  int64_t num_threads_;  // the consumer changes it, with mutex_ locked
  bool in_order_;
  std::unique_ptr<TunedThreads> tuned_;
  std::deque<std::shared_ptr<Task>> window_;  // in order, used by the consumer alone
  int64_t num_waiting_ = 0;                   // tasks of the window that are not given yet
  std::mutex mutex_;                          // guards waiting_, busy_, stop_ and Task::done
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Task>> waiting_;
  int64_t busy_ = 0;  // threads in the function
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

/// Whether elements were batched earlier in the pipeline.
DISTRIBUTE_INLINE bool gives_batches(const Node& node) {
  const std::string_view kind = node.kind();
  for (const std::string_view batches :
       {"Batch", "PaddedBatch", "RaggedBatch", "Bucket", "Window", "Rebatch", "LegacyRebatch"})
    if (kind == batches) return true;
  const std::vector<NodePtr> inputs = node.inputs();
  return kind != "Unbatch" && kind != "Interleave" && !inputs.empty() && gives_batches(*inputs[0]);
}

DISTRIBUTE_INLINE ElementSpec spec_of_results(const Node& input, const char* op,
                                              const std::function<Batch(const Batch&)>& function) {
  Batch first;
  if (!input.elements({.number = kSpecPass})->next(first))
    throw FailedPreconditionError(
        str_cat(op, ": the dataset is empty, so its elements are unknown; give output_spec"));
  const ElementSpec before = input.element_spec();
  ElementSpec spec = spec_of(function(first));
  if (before.empty() || before[0].shape.empty() || before[0].shape[0] >= 0) return spec;
  const bool batches = gives_batches(input);
  for (TensorSpec& tensor : spec)
    if (!tensor.shape.empty() && (batches || tensor.shape[0] == first.x.shape()[0]))
      tensor.shape[0] = -1;
  return spec;
}

class MapNode final : public OneInputNode {
 public:
  MapNode(NodePtr input, MapFunction function, MapOptions options)
      : OneInputNode(std::move(input)),
        function_(std::move(function)),
        options_(std::move(options)) {}
  const char* kind() const override { return "Map"; }
  std::vector<int64_t> parameters() const override {
    return options_.deterministic.value_or(true) ? std::vector<int64_t>{} : std::vector<int64_t>{1};
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return map_node(inputs.at(0), function_, options_);
  }
  ElementSpec element_spec() const override {
    if (options_.output_spec) return *options_.output_spec;
    std::call_once(spec_once_, [&] { spec_ = spec_of_results(input(), "map", function_); });
    return spec_;
  }
  /// The results have one size if the arguments do.
  bool spec_is_exact() const override {
    return options_.output_spec || (input().spec_is_exact() && is_static(input().element_spec()));
  }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    auto all = input().elements(pass);
    const auto [threads, tuned] = threads_of_stage(options_.num_parallel_calls, INT64_MAX, pass);
    const bool in_order =
        options_.num_parallel_calls == 1 || is_in_order(options_.deterministic, pass);
    // Without an order the position has another form, whatever the number of threads.
    if (threads == 1 && in_order)
      return std::make_unique<MapStream>(std::move(all), function_, pass);
    return std::make_unique<ParallelMapStream>(
        std::move(all), function_, pass, threads, in_order,
        tuned ? std::make_unique<TunedThreads>(tuning_limits(pass), threads) : nullptr);
  }

 private:
  MapFunction function_;
  MapOptions options_;
  mutable std::once_flag spec_once_;
  mutable ElementSpec spec_;
};

class FilterStream final : public BatchStream {
 public:
  FilterStream(std::unique_ptr<BatchStream> input, const Predicate& predicate)
      : input_(std::move(input)), predicate_(predicate) {}
  bool next(Batch& out) override {
    FruitlessSteps fruitless("filter: elements were left out");
    for (; input_->next(out); fruitless.add())
      if (predicate_(out)) return true;
    return false;
  }
  void save(StateWriter& state) const override { input_->save(state); }
  void restore(StateReader& state) override { input_->restore(state); }

 private:
  std::unique_ptr<BatchStream> input_;
  const Predicate& predicate_;
};

class FilterNode final : public CopiedNode<FilterNode> {
 public:
  FilterNode(NodePtr input, Predicate predicate)
      : CopiedNode(std::move(input)), predicate_(std::move(predicate)) {}
  const char* kind() const override { return "Filter"; }
  int64_t cardinality() const override { return kUnknownCardinality; }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<FilterStream>(input().elements(pass), predicate_);
  }

 private:
  Predicate predicate_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE int64_t num_threads_for(int64_t num_parallel_calls) {
  if (num_parallel_calls != kAutotune) return num_parallel_calls;
  const int64_t configured = device_state().inter_op_parallelism_threads;
  return configured == 0 ? usable_cores() : configured;
}

DISTRIBUTE_INLINE bool is_in_order(const std::optional<bool>& deterministic, const Pass& pass) {
  return deterministic.value_or(pass.deterministic.value_or(true));
}

DISTRIBUTE_INLINE NodePtr map_node(NodePtr input, MapFunction function, const MapOptions& options) {
  if (options.num_parallel_calls != kAutotune && options.num_parallel_calls < 1)
    throw InvalidArgumentError(str_cat("map: num_parallel_calls must be at least 1 or kAutotune, ",
                                       "got ", options.num_parallel_calls));
  if (!options.deterministic.value_or(true) && options.num_parallel_calls == 1)
    throw InvalidArgumentError(
        "map: deterministic = false needs num_parallel_calls; one thread has one order");
  return std::make_shared<data_internal::MapNode>(std::move(input), std::move(function), options);
}

DISTRIBUTE_INLINE NodePtr filter_node(NodePtr input, Predicate predicate) {
  return std::make_shared<data_internal::FilterNode>(std::move(input), std::move(predicate));
}

}  // namespace distribute::data
