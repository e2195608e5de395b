#pragma once
#include <distribute/base/process_state.hpp>
#include <distribute/data/selection_node.hpp>
#include <distribute/data/shuffle.hpp>

#include <utility>

namespace distribute::data {

namespace data_internal {

/// Draw `index` in [0, count): a counter-based generator, so that a position is one number.
DISTRIBUTE_INLINE int64_t draw(uint64_t key, int64_t index, int64_t count) {
  const uint64_t bits = mix_bits(key + uint64_t(index) * 0x9e3779b97f4a7c15u);
  return int64_t(uint64_t((static_cast<unsigned __int128>(bits) * uint64_t(count)) >> 64));
}

template <typename T>
class ShuffleStream final : public Stream<T> {
 public:
  ShuffleStream(std::unique_ptr<Stream<T>> input, int64_t buffer_size, uint64_t key)
      : input_(std::move(input)), buffer_size_(buffer_size), key_(key) {}
  bool next(T& out) override {
    T element{};  // topping up comes first: when the input throws, nothing is lost
    while (int64_t(buffer_.size()) < buffer_size_ && input_->next(element))
      buffer_.push_back(std::move(element));
    if (buffer_.empty()) return false;
    std::swap(buffer_[size_t(draw(key_, given_++, int64_t(buffer_.size())))], buffer_.back());
    out = std::move(buffer_.back());
    buffer_.pop_back();
    return true;
  }
  void save(StateWriter& state) const override { state.put(given_); }
  void restore(StateReader& state) override { this->replay(state.get()); }

 private:
  std::unique_ptr<Stream<T>> input_;
  int64_t buffer_size_;
  uint64_t key_;
  int64_t given_ = 0;
  std::vector<T> buffer_;
};

class ShuffleNode final : public SelectionNode<ShuffleNode> {
 public:
  ShuffleNode(NodePtr input, int64_t buffer_size, ShuffleOptions options)
      : SelectionNode(std::move(input)), buffer_size_(buffer_size), options_(options) {}
  const char* kind() const override { return "Shuffle"; }
  std::vector<int64_t> parameters() const override {
    return {buffer_size_, int64_t(options_.seed.value_or(0)), options_.reshuffle_each_iteration};
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return std::make_shared<ShuffleNode>(inputs.at(0), buffer_size_, options_);
  }
  int64_t cardinality() const override { return input().cardinality(); }
  std::atomic<uint64_t>* passes() const override { return &passes_; }
  template <typename T>
  std::unique_ptr<Stream<T>> open(const Pass& pass) const {
    const uint64_t seed = options_.seed ? *options_.seed : process_state().global_seed.load();
    const uint64_t number = options_.reshuffle_each_iteration ? pass.number : 0;
    const uint64_t key = mix_bits(mix_bits(mix_bits(seed) + uint64_t(depth(*this))) + number);
    return std::make_unique<ShuffleStream<T>>(open_stream<T>(input(), pass), buffer_size_, key);
  }

 private:
  int64_t buffer_size_;
  ShuffleOptions options_;
  mutable std::atomic<uint64_t> passes_{0};
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr shuffle_node(NodePtr input, int64_t buffer_size,
                                       const ShuffleOptions& options) {
  if (buffer_size < 1)
    throw InvalidArgumentError(
        concat("shuffle: the buffer size must be at least 1, got ", buffer_size));
  return std::make_shared<data_internal::ShuffleNode>(std::move(input), buffer_size, options);
}

}  // namespace distribute::data
