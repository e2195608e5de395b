#pragma once
#include <distribute/data/detail/fruitless.hpp>
#include <distribute/data/detail/interleave.hpp>
#include <distribute/data/detail/parallel_interleave.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/data/node.hpp>

#include <algorithm>
#include <map>
#include <mutex>

namespace distribute::data {

namespace data_internal {

class InterleaveStream final : public BatchStream {
 public:
  InterleaveStream(std::unique_ptr<BatchStream> input, const NodeFunction& function,
                   const InterleaveOptions& options, const Pass& pass)
      : input_(std::move(input)),
        function_(function),
        block_length_(options.block_length),
        pass_(pass),
        parts_(size_t(options.cycle_length)) {}
  bool next(Batch& out) override {
    FruitlessSteps fruitless(kEmptyParts);
    while (!input_ended_ || num_open_ > 0) {
      Part& part = parts_[turn_];
      if (!part.stream && !open(part)) {
        next_turn();
      } else if (part.stream->next(out)) {
        if (++in_block_ == block_length_) next_turn();
        return true;
      } else {
        part.close();
        --num_open_;
        next_turn();
        fruitless.add();
      }
    }
    return false;
  }
  int64_t skip(int64_t count) override {
    int64_t done = 0;
    while (done < count && (!input_ended_ || num_open_ > 0)) {
      Part& part = parts_[turn_];
      if (!part.stream && !open(part)) {
        next_turn();
        continue;
      }
      const int64_t wanted = std::min(count - done, block_length_ - in_block_);
      const int64_t now = part.stream->skip(wanted);
      done += now;
      in_block_ += now;
      if (now < wanted) {
        part.close();
        --num_open_;
      }
      if (now < wanted || in_block_ == block_length_) next_turn();
    }
    return done;
  }
  /// Saves the numbers of the open parts and their states; restoring makes parts again from their
  /// elements.
  void save(StateWriter& state) const override {
    for (int64_t value : {num_taken_, int64_t(turn_), in_block_}) state.put(value);
    for (const Part& part : parts_) {
      state.put(part.stream ? part.number : -1);
      if (part.stream) part.stream->save(state);
    }
  }
  void restore(StateReader& state) override {
    const int64_t taken = state.get();
    turn_ = size_t(state.get(0, int64_t(parts_.size()) - 1));
    in_block_ = state.get(0, block_length_ - 1);
    for (Part& part : parts_) {
      const int64_t number = state.get(-1, taken - 1);
      if (number < 0) continue;
      open_as(part, number, element(number));
      part.stream->restore(state);
    }
    read_ahead_.clear();
    if (input_->skip(taken - num_taken_) != taken - num_taken_)
      throw InvalidArgumentError("the saved position lies behind the end of the dataset");
    num_taken_ = taken;
  }

 private:
  struct Part {
    int64_t number = -1;  // of the input's element
    NodePtr node;
    std::unique_ptr<BatchStream> stream;  // reads from `node`, so it is destroyed first
    void close() {
      stream.reset();
      node.reset();
    }
  };

  void next_turn() {
    in_block_ = 0;
    turn_ = (turn_ + 1) % parts_.size();
  }
  bool open(Part& part) {
    Batch element;
    if (input_ended_ || !input_->next(element)) {
      input_ended_ = true;
      return false;
    }
    open_as(part, num_taken_++, element);
    return true;
  }
  void open_as(Part& part, int64_t number, const Batch& element) {
    part.number = number;
    part.node = function_(element);
    part.stream = part.node->elements(pass_.child(number));
    ++num_open_;
  }
  /// Gives element `number` of the input during a restore, which asks for each element at most
  /// once.
  Batch element(int64_t number) {
    Batch next;
    for (; num_taken_ <= number; ++num_taken_) {
      if (!input_->next(next))
        throw InvalidArgumentError("the saved position lies behind the end of the dataset");
      read_ahead_[num_taken_] = next;
    }
    return read_ahead_.at(number);
  }

  std::unique_ptr<BatchStream> input_;
  const NodeFunction& function_;
  int64_t block_length_;
  Pass pass_;
  std::vector<Part> parts_;
  size_t turn_ = 0;
  int64_t in_block_ = 0, num_taken_ = 0, num_open_ = 0;
  bool input_ended_ = false;
  std::map<int64_t, Batch> read_ahead_;
};

class InterleaveNode final : public OneInputNode {
 public:
  InterleaveNode(NodePtr input, NodeFunction function, InterleaveOptions options)
      : OneInputNode(std::move(input)), function_(std::move(function)), options_(options) {}
  const char* kind() const override { return "Interleave"; }
  int64_t cardinality() const override { return kUnknownCardinality; }
  std::vector<int64_t> parameters() const override {
    return {options_.cycle_length, options_.block_length};
  }
  NodePtr with_inputs(std::vector<NodePtr> inputs) const override {
    return interleave_node(inputs.at(0), function_, options_);
  }
  ElementSpec element_spec() const override {
    std::call_once(spec_once_, [&] {
      Batch first;
      if (!input().elements({.number = kSpecPass})->next(first))
        throw FailedPreconditionError("interleave: the dataset is empty: its elements are unknown");
      spec_ = function_(first)->element_spec();
    });
    return spec_;
  }
  bool spec_is_exact() const override { return false; }
  PassCount* passes() const override { return &passes_; }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    auto all = input().elements(pass);
    if (options_.num_parallel_calls == 1)
      return std::make_unique<InterleaveStream>(std::move(all), function_, options_, pass);
    InterleaveOptions options = options_;
    options.deterministic = is_in_order(options_.deterministic, pass);
    return parallel_interleave(
        std::move(all), function_, options, pass,
        threads_of_stage(options_.num_parallel_calls, options_.cycle_length, pass));
  }

 private:
  NodeFunction function_;
  InterleaveOptions options_;
  mutable std::once_flag spec_once_;
  mutable ElementSpec spec_;
  mutable PassCount passes_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr interleave_node(NodePtr input, NodeFunction function,
                                          const InterleaveOptions& options) {
  if (options.cycle_length < 1 || options.block_length < 1)
    throw InvalidArgumentError(str_cat("interleave: cycle_length ", options.cycle_length,
                                       " and block_length ", options.block_length,
                                       " must be at least 1"));
  if (options.num_parallel_calls < 1 && options.num_parallel_calls != kAutotune)
    throw InvalidArgumentError(str_cat("interleave: num_parallel_calls must be at least 1 or ",
                                       "kAutotune, got ", options.num_parallel_calls));
  if (!options.deterministic.value_or(true) && options.num_parallel_calls == 1)
    throw InvalidArgumentError(
        "interleave: deterministic = false needs num_parallel_calls; one thread has one order");
  return std::make_shared<data_internal::InterleaveNode>(std::move(input), std::move(function),
                                                         options);
}

}  // namespace distribute::data
