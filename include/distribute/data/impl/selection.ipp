#pragma once
#include <distribute/data/detail/selection.hpp>
#include <distribute/data/detail/selection_node.hpp>

#include <algorithm>

namespace distribute::data {

namespace data_internal {

template <typename T>
class TakeStream final : public Stream<T> {
 public:
  TakeStream(std::unique_ptr<Stream<T>> input, int64_t count)
      : input_(std::move(input)), left_(count) {}
  bool next(T& out) override {
    if (left_ == 0 || !input_->next(out)) return false;
    if (left_ > 0) --left_;
    return true;
  }
  int64_t skip(int64_t count) override {
    const int64_t done = input_->skip(left_ < 0 ? count : std::min(count, left_));
    if (left_ > 0) left_ -= done;
    return done;
  }
  void save(StateWriter& state) const override {
    state.put(left_);
    input_->save(state);
  }
  void restore(StateReader& state) override {
    left_ = state.get(-1, left_ < 0 ? -1 : left_);
    input_->restore(state);
  }

 private:
  std::unique_ptr<Stream<T>> input_;
  int64_t left_;  // -1: all
};

class TakeNode final : public SelectionNode<TakeNode> {
 public:
  TakeNode(NodePtr input, int64_t count) : SelectionNode(std::move(input)), count_(count) {}
  const char* kind() const override { return "Take"; }
  std::vector<int64_t> parameters() const override { return {count_}; }
  int64_t cardinality() const override {
    const int64_t all = input().cardinality();
    if (count_ < 0 || all == kUnknownCardinality) return all;
    return all == kInfiniteCardinality ? count_ : std::min(all, count_);
  }
  template <typename T>
  std::unique_ptr<Stream<T>> open(const Pass& pass) const {
    return std::make_unique<TakeStream<T>>(open_stream<T>(input(), pass), count_);
  }

 private:
  int64_t count_;
};

/// Drops `first` elements, then repeatedly gives one and drops `between`. Both skip and shard use
/// it.
template <typename T>
class EveryStream final : public Stream<T> {
 public:
  EveryStream(std::unique_ptr<Stream<T>> input, int64_t first, int64_t between)
      : input_(std::move(input)), drop_(first), between_(between) {}
  bool next(T& out) override {
    if (drop_ > 0 && input_->skip(drop_) < drop_) return false;
    drop_ = 0;
    if (!input_->next(out)) return false;
    drop_ = between_;
    return true;
  }
  int64_t skip(int64_t count) override {
    if (count == 0 || (drop_ > 0 && input_->skip(drop_) < drop_)) return 0;
    const int64_t step = between_ + 1;
    const int64_t wanted = count > INT64_MAX / step ? INT64_MAX : count * step - between_;
    const int64_t passed = input_->skip(wanted);
    drop_ = between_;
    return (passed + step - 1) / step;
  }
  void save(StateWriter& state) const override {
    state.put(drop_);
    input_->save(state);
  }
  void restore(StateReader& state) override {
    drop_ = state.get();
    input_->restore(state);
  }

 private:
  std::unique_ptr<Stream<T>> input_;
  int64_t drop_, between_;
};

class SkipNode final : public SelectionNode<SkipNode> {
 public:
  SkipNode(NodePtr input, int64_t count) : SelectionNode(std::move(input)), count_(count) {}
  const char* kind() const override { return "Skip"; }
  std::vector<int64_t> parameters() const override { return {count_}; }
  int64_t cardinality() const override {
    const int64_t all = input().cardinality();
    if (count_ < 0) return 0;
    return all < 0 ? all : std::max<int64_t>(all - count_, 0);
  }
  template <typename T>
  std::unique_ptr<Stream<T>> open(const Pass& pass) const {
    auto all = open_stream<T>(input(), pass);
    if (count_ < 0) return std::make_unique<TakeStream<T>>(std::move(all), 0);
    return std::make_unique<EveryStream<T>>(std::move(all), count_, 0);
  }

 private:
  int64_t count_;
};

class ShardNode final : public SelectionNode<ShardNode> {
 public:
  ShardNode(NodePtr input, int64_t num_shards, int64_t index)
      : SelectionNode(std::move(input)), num_shards_(num_shards), index_(index) {}
  const char* kind() const override { return "Shard"; }
  std::vector<int64_t> parameters() const override { return {num_shards_, index_}; }
  int64_t cardinality() const override {
    const int64_t all = input().cardinality();
    if (all < 0 || num_shards_ == kShardHint) return all;
    return all / num_shards_ + (all % num_shards_ > index_);
  }
  template <typename T>
  std::unique_ptr<Stream<T>> open(const Pass& pass) const {
    if (num_shards_ == kShardHint)
      throw FailedPreconditionError(
          "shard(kShardHint, kShardHint) has no meaning outside a distributed dataset: use "
          "`strategy.experimental_distribute_dataset` with AutoShardPolicy::Hint");
    return std::make_unique<EveryStream<T>>(open_stream<T>(input(), pass), index_, num_shards_ - 1);
  }

 private:
  int64_t num_shards_, index_;
};

template <typename T>
class RepeatStream final : public Stream<T> {
 public:
  RepeatStream(const Node& input, const Pass& pass, int64_t count)
      : input_(input), pass_(pass), count_(count) {}
  bool next(T& out) override {
    while (open()) {
      if (stream_->next(out)) {
        epoch_is_empty_ = false;
        return true;
      }
      close();
    }
    return false;
  }
  int64_t skip(int64_t count) override {
    int64_t done = 0;
    while (done < count && open()) {
      const int64_t now = stream_->skip(count - done);
      if (now > 0) epoch_is_empty_ = false;
      done += now;
      if (done < count) close();
    }
    return done;
  }
  void save(StateWriter& state) const override {
    state.put(epoch_);
    state.put(epoch_is_empty_);
    state.put(stream_ != nullptr);
    if (stream_) stream_->save(state);
  }
  void restore(StateReader& state) override {
    epoch_ = state.get(0, count_ < 0 ? INT64_MAX - 1 : count_);
    epoch_is_empty_ = state.get(0, 1);
    if (!state.get(0, 1)) return;
    stream_ = open_stream<T>(input_, pass_.child(epoch_));
    stream_->restore(state);
  }

 private:
  /// Opens the next epoch; returns false after the last one.
  bool open() {
    if (stream_) return true;
    if (epoch_ == count_) return false;
    stream_ = open_stream<T>(input_, pass_.child(epoch_));
    epoch_is_empty_ = true;
    return true;
  }
  void close() {
    stream_.reset();
    // repeating an empty dataset without end would hang
    epoch_ = epoch_is_empty_ ? count_ : epoch_ + 1;
    if (epoch_is_empty_ && count_ < 0) count_ = epoch_ = 0;
  }

  const Node& input_;
  Pass pass_;
  int64_t count_;  // -1: without end
  int64_t epoch_ = 0;
  bool epoch_is_empty_ = true;
  std::unique_ptr<Stream<T>> stream_;
};

class RepeatNode final : public SelectionNode<RepeatNode> {
 public:
  RepeatNode(NodePtr input, int64_t count) : SelectionNode(std::move(input)), count_(count) {}
  const char* kind() const override { return "Repeat"; }
  std::vector<int64_t> parameters() const override { return {count_}; }
  int64_t cardinality() const override {
    const int64_t all = input().cardinality();
    if (all == 0 || count_ == 0) return 0;
    if (count_ < 0) return kInfiniteCardinality;
    return all < 0 ? all : all * count_;
  }
  template <typename T>
  std::unique_ptr<Stream<T>> open(const Pass& pass) const {
    return std::make_unique<RepeatStream<T>>(input(), pass, count_);
  }

 private:
  int64_t count_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr take_node(NodePtr input, int64_t count) {
  if (count < -1) throw InvalidArgumentError(str_cat("take: the count is ", count));
  return std::make_shared<data_internal::TakeNode>(std::move(input), count);
}

DISTRIBUTE_INLINE NodePtr skip_node(NodePtr input, int64_t count) {
  if (count < -1) throw InvalidArgumentError(str_cat("skip: the count is ", count));
  return std::make_shared<data_internal::SkipNode>(std::move(input), count);
}

DISTRIBUTE_INLINE NodePtr repeat_node(NodePtr input, int64_t count) {
  if (count < -1) throw InvalidArgumentError(str_cat("repeat: the count is ", count));
  return std::make_shared<data_internal::RepeatNode>(std::move(input), count);
}

DISTRIBUTE_INLINE NodePtr shard_node(NodePtr input, int64_t num_shards, int64_t index) {
  const bool hint = num_shards == kShardHint && index == kShardHint;
  if (!hint && (num_shards < 1 || index < 0 || index >= num_shards))
    throw InvalidArgumentError(str_cat("shard: needs 0 <= index < num_shards, got index ", index,
                                       " of ", num_shards, " shards"));
  return std::make_shared<data_internal::ShardNode>(std::move(input), num_shards, index);
}

}  // namespace distribute::data
