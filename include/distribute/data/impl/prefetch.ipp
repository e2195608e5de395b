#pragma once
#include <distribute/base/threads.hpp>
#include <distribute/data/detail/autotune.hpp>
#include <distribute/data/detail/input_metrics.hpp>
#include <distribute/data/detail/prefetch.hpp>

#include <distribute/base/parallel.hpp>
#include <distribute/data/node.hpp>
#include <distribute/device/buffer.hpp>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

namespace distribute::data {

namespace data_internal {

/// The thread starts with the first element. From then on only it reads the input.
class PrefetchStream final : public BatchStream {
 public:
  /// `tuned` finds the size; without it the size is fixed.
  PrefetchStream(std::unique_ptr<BatchStream> input, int64_t buffer_size,
                 std::unique_ptr<TunedBuffer> tuned)
      : input_(std::move(input)), buffer_size_(size_t(buffer_size)), tuned_(std::move(tuned)) {
    position_ = input_state();
  }
  ~PrefetchStream() override {
    {
      std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    input_metrics().prefetched_batches.add(-int64_t(buffer_.size()));
  }
  bool next(Batch& out) override {
    if (ended_) return false;
    if (!thread_.joinable()) thread_ = base_internal::start_thread("prefetch", [this] { work(); });
    Ready ready = wait_for_element();
    position_ = std::move(ready.state_after);
    ended_ = ready.at_end;
    if (ready.error) std::rethrow_exception(ready.error);
    if (!ended_) out = std::move(ready.element);
    return !ended_;
  }
  int64_t skip(int64_t count) override {
    if (thread_.joinable()) return BatchStream::skip(count);
    const int64_t done = input_->skip(count);
    position_ = input_state();
    return done;
  }
  void save(StateWriter& state) const override { state.put(position_); }
  void restore(StateReader& state) override {
    input_->restore(state);
    position_ = input_state();
  }

 private:
  struct Ready {
    Batch element;
    std::exception_ptr error;
    bool at_end = false;
    std::vector<int64_t> state_after;
  };

  std::vector<int64_t> input_state() const {
    StateWriter state;
    input_->save(state);
    return state.values();
  }
  Ready wait_for_element() {
    std::unique_lock lock(mutex_);
    if (tuned_) {
      tuned_->consumed(int64_t(buffer_.size()), element_bytes_);
      buffer_size_ = size_t(tuned_->size());
      changed_.notify_all();
    }
    changed_.wait(lock, [&] { return !buffer_.empty(); });
    Ready ready = std::move(buffer_.front());
    buffer_.pop_front();
    if (tuned_) element_bytes_ = bytes_of(ready.element);
    input_metrics().prefetched_batches.add(-1);
    changed_.notify_all();
    return ready;
  }
  /// Whether another element may be prepared: always one, and more while there is memory.
  bool has_room() const {
    return buffer_.size() < buffer_size_ && (buffer_.empty() || host_memory_shortage().empty());
  }
  Ready make() {
    Ready ready;
    try {
      ready.at_end = !input_->next(ready.element);
    } catch (...) {
      ready.error = std::current_exception();
    }
    ready.state_after = input_state();
    return ready;
  }
  void work() {
    set_intra_op_threads(1);
    for (bool at_end = false; !at_end;) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stop_ || has_room(); });
        if (stop_) return;
      }
      Ready ready = make();
      at_end = ready.at_end;
      std::lock_guard lock(mutex_);
      buffer_.push_back(std::move(ready));
      input_metrics().prefetched_batches.add(1);
      changed_.notify_all();
    }
  }

  static int64_t bytes_of(const Batch& element) {
    int64_t bytes = 0;
    for (size_t i = 0; i < element.size(); ++i)
      bytes += element[i].num_elements() * int64_t(size_of(element[i].dtype()));
    return bytes;
  }

  std::unique_ptr<BatchStream> input_;
  size_t buffer_size_;  // also guarded by mutex_, as the two below
  std::unique_ptr<TunedBuffer> tuned_;
  int64_t element_bytes_ = 0;
  std::vector<int64_t> position_;  // state of the input after the last element handed out
  bool ended_ = false;
  std::mutex mutex_;  // guards buffer_ and stop_
  std::condition_variable changed_;
  std::deque<Ready> buffer_;
  bool stop_ = false;
  std::thread thread_;
};

class PrefetchNode final : public CopiedNode<PrefetchNode> {
 public:
  PrefetchNode(NodePtr input, int64_t buffer_size)
      : CopiedNode(std::move(input)), buffer_size_(buffer_size) {}
  const char* kind() const override { return "Prefetch"; }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    auto all = input().elements(pass);
    if (buffer_size_ == 0) return all;
    std::unique_ptr<TunedBuffer> tuned;
    const bool tunes = buffer_size_ == kAutotune;
    if (const TuningLimits limits = tuning_limits(pass); tunes && limits.enabled)
      tuned = std::make_unique<TunedBuffer>(limits.bytes);
    return std::make_unique<PrefetchStream>(std::move(all), tunes ? 2 : buffer_size_,
                                            std::move(tuned));
  }

 private:
  int64_t buffer_size_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr prefetch_node(NodePtr input, int64_t buffer_size) {
  if (buffer_size < 0 && buffer_size != kAutotune)
    throw InvalidArgumentError(str_cat("prefetch: the buffer size is ", buffer_size));
  return std::make_shared<data_internal::PrefetchNode>(std::move(input), buffer_size);
}

}  // namespace distribute::data
