#pragma once
#include <distribute/base/logging.hpp>
#include <distribute/data/detail/selection_node.hpp>
#include <distribute/data/detail/shuffle.hpp>
#include <distribute/data/random.hpp>
#include <distribute/device/buffer.hpp>
#include <distribute/ops/detail/global_seed.hpp>

#include <algorithm>
#include <deque>
#include <type_traits>
#include <utility>

namespace distribute::data {

namespace data_internal {

/// The state of the input before its element `number`.
struct ShuffleMark {
  int64_t number;
  std::vector<int64_t> state;
};

/// The number of elements from which the buffer has another size.
struct ShuffleShrink {
  int64_t given, taken, size;
};

/// Draws elements from a buffer. The buffer's contents follow from the key and the number of
/// elements given. So a position is that number and a mark, which is the state of the input before
/// the oldest element that is still held.
template <typename T>
class ShuffleStream final : public Stream<T> {
 public:
  ShuffleStream(std::unique_ptr<Stream<T>> input, int64_t buffer_size, uint64_t key)
      : input_(std::move(input)), buffer_size_(buffer_size), key_(key) {}
  bool next(T& out) override {
    fill();  // first, so that nothing is lost when the input throws
    if (buffer_.empty()) return false;
    std::swap(buffer_[size_t(draw(key_, given_++, int64_t(buffer_.size())))], buffer_.back());
    out = std::move(buffer_.back().element);
    buffer_.pop_back();
    return true;
  }
  void save(StateWriter& state) const override {
    if (!shrinks_.empty()) state.put(-int64_t(shrinks_.size()));
    for (const ShuffleShrink& shrink : shrinks_)
      for (int64_t value : {shrink.given, shrink.taken, shrink.size}) state.put(value);
    for (int64_t value : {given_, taken_, marks_.empty() ? 0 : marks_.front().number})
      state.put(value);
    if (marks_.empty())
      input_->save(state);
    else
      state.put(marks_.front().state);
  }
  void restore(StateReader& state) override {
    shrinks_.clear();
    buffer_size_ = first_size_;
    given_ = state.get(-kMostShrinks);
    for (int64_t left = given_; left < 0; ++left) {
      const int64_t given = state.get(), before = state.get();
      shrinks_.push_back({given, before, state.get(1, buffer_size_)});
      buffer_size_ = shrinks_.back().size;
    }
    if (!shrinks_.empty()) given_ = state.get();
    const int64_t taken = state.get(given_);
    taken_ = state.get(0, taken);
    input_->restore(state);
    mark();
    refill(taken);
  }

 private:
  struct Held {
    int64_t number;  // in the order of the input
    T element;
  };
  static constexpr int64_t kLeast = 16;        // elements that are held even without memory
  static constexpr int64_t kMostShrinks = 64;  // each but the first halves the buffer

  void fill() {
    while (int64_t(buffer_.size()) < buffer_size_) {
      if (shrinks()) return;
      if (taken_ >= next_mark_) mark();
      T element{};
      if (!input_->next(element)) return;
      buffer_.push_back({taken_++, std::move(element)});
    }
  }
  /// Halves the buffer when memory runs out, or fixes it at its present size. Row numbers need
  /// almost no memory, so their buffers never shrink.
  bool shrinks() {
    const int64_t held = int64_t(buffer_.size());
    if (!std::is_same_v<T, Batch> || held <= kLeast) return false;
    const std::string shortage = host_memory_shortage();
    if (shortage.empty()) return false;
    const int64_t before = buffer_size_;
    buffer_size_ = std::max(taken_ > buffer_size_ ? held / 2 : held, kLeast);
    shrinks_.push_back({given_, taken_, buffer_size_});
    log_warning("data",
                str_cat("shuffle: the buffer holds ", buffer_size_, " elements instead of ", before,
                        ", as memory runs out: ", shortage, "; orders depend on it"));
    return true;
  }
  /// Adds a mark for the input's state, and drops marks that no held element needs.
  void mark() {
    int64_t oldest = taken_;
    for (const Held& held : buffer_) oldest = std::min(oldest, held.number);
    while (marks_.size() > 1 && marks_[1].number <= oldest) marks_.pop_front();
    StateWriter state;
    input_->save(state);
    marks_.push_back({taken_, state.values()});
    next_mark_ = taken_ + std::max<int64_t>(buffer_size_ / 8, 1);
  }
  /// The numbers of the elements that were held, in their places.
  std::vector<int64_t> held_numbers(int64_t taken) const {
    std::vector<int64_t> numbers;
    int64_t next = 0, size = first_size_;
    auto shrink = shrinks_.begin();
    const auto top_up = [&](int64_t given) {
      while (int64_t(numbers.size()) < size && next < taken) {
        if (shrink != shrinks_.end() && shrink->given == given && shrink->taken == next)
          size = (shrink++)->size;
        else
          numbers.push_back(next++);
      }
    };
    for (int64_t i = 0; i < given_; ++i) {
      top_up(i);
      if (numbers.empty()) throw_behind_end();
      std::swap(numbers[size_t(draw(key_, i, int64_t(numbers.size())))], numbers.back());
      numbers.pop_back();
    }
    while (next < taken) numbers.push_back(next++);  // those taken before an error of the input
    return numbers;
  }
  /// Takes the held elements from the input again, beginning at the mark, and skips the others.
  void refill(int64_t taken) {
    const std::vector<int64_t> numbers = held_numbers(taken);
    std::vector<std::pair<int64_t, size_t>> wanted;
    for (size_t place = 0; place < numbers.size(); ++place)
      wanted.push_back({numbers[place], place});
    std::sort(wanted.begin(), wanted.end());
    buffer_.resize(numbers.size());
    for (const auto& [number, place] : wanted) {
      pass_over(number);
      buffer_[place].number = number;
      if (!input_->next(buffer_[place].element)) throw_behind_end();
      ++taken_;
    }
    pass_over(taken);
  }
  void pass_over(int64_t number) {
    if (number < taken_ || input_->skip(number - taken_) != number - taken_) throw_behind_end();
    taken_ = number;
  }
  [[noreturn]] static void throw_behind_end() {
    throw InvalidArgumentError("the saved position of a shuffle lies behind the end of its input");
  }

  std::unique_ptr<Stream<T>> input_;
  int64_t buffer_size_;
  const int64_t first_size_ = buffer_size_;
  uint64_t key_;
  std::vector<ShuffleShrink> shrinks_;
  int64_t given_ = 0, taken_ = 0, next_mark_ = 0;
  std::vector<Held> buffer_;
  std::deque<ShuffleMark> marks_;  // oldest first
};

class ShuffleNode final : public SelectionNode<ShuffleNode> {
 public:
  ShuffleNode(NodePtr input, int64_t buffer_size, ShuffleOptions options)
      : SelectionNode(std::move(input)), buffer_size_(buffer_size), options_(options) {}
  const char* kind() const override { return "Shuffle"; }
  std::vector<int64_t> parameters() const override {
    return {buffer_size_, int64_t(options_.seed.value_or(0)), options_.reshuffle_each_iteration};
  }
  PassCount* passes() const override { return &passes_; }
  template <typename T>
  std::unique_ptr<Stream<T>> open(const Pass& pass) const {
    const uint64_t seed = options_.seed ? *options_.seed : ops_internal::global_seed().load();
    const uint64_t number = options_.reshuffle_each_iteration ? pass.number : 0;
    const uint64_t key = mix_bits(mix_bits(mix_bits(seed) + uint64_t(depth(*this))) + number);
    return std::make_unique<ShuffleStream<T>>(open_stream<T>(input(), pass), buffer_size_, key);
  }

 private:
  int64_t buffer_size_;
  ShuffleOptions options_;
  mutable PassCount passes_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr shuffle_node(NodePtr input, int64_t buffer_size,
                                       const ShuffleOptions& options) {
  if (buffer_size < 1)
    throw InvalidArgumentError(
        str_cat("shuffle: the buffer size must be at least 1, got ", buffer_size));
  return std::make_shared<data_internal::ShuffleNode>(std::move(input), buffer_size, options);
}

}  // namespace distribute::data
