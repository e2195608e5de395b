#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/logging.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/data/detail/fruitless.hpp>
#include <distribute/data/detail/selection_node.hpp>
#include <distribute/data/detail/stateful.hpp>

#include <string>
#include <unordered_set>

namespace distribute::data {

namespace data_internal {

class TakeWhileStream final : public BatchStream {
 public:
  TakeWhileStream(std::unique_ptr<BatchStream> input, const Predicate& predicate)
      : input_(std::move(input)), predicate_(predicate) {}
  bool next(Batch& out) override {
    if (!ended_) ended_ = !input_->next(out) || !predicate_(out);
    return !ended_;
  }
  void save(StateWriter& state) const override {
    state.put(ended_);
    input_->save(state);
  }
  void restore(StateReader& state) override {
    ended_ = state.get(0, 1);
    input_->restore(state);
  }

 private:
  std::unique_ptr<BatchStream> input_;
  const Predicate& predicate_;
  bool ended_ = false;
};

class TakeWhileNode final : public CopiedNode<TakeWhileNode> {
 public:
  TakeWhileNode(NodePtr input, Predicate predicate)
      : CopiedNode(std::move(input)), predicate_(std::move(predicate)) {}
  const char* kind() const override { return "TakeWhile"; }
  int64_t cardinality() const override { return kUnknownCardinality; }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<TakeWhileStream>(input().elements(pass), predicate_);
  }

 private:
  Predicate predicate_;
};

/// The position is the number of elements read, which a restored stream reads again.
class UniqueStream final : public BatchStream {
 public:
  explicit UniqueStream(std::unique_ptr<BatchStream> input) : input_(std::move(input)) {}
  bool next(Batch& out) override {
    FruitlessSteps fruitless("unique: elements came that came before,");
    for (; input_->next(out); fruitless.add())
      if (++read_, seen_.insert(key_of(out.x)).second) return true;
    return false;
  }
  void save(StateWriter& state) const override { state.put(read_); }
  void restore(StateReader& state) override {
    const int64_t count = state.get();
    Batch element;
    for (; read_ < count; ++read_) {
      if (!input_->next(element))
        throw InvalidArgumentError("the saved position lies behind the end of the dataset");
      seen_.insert(key_of(element.x));
    }
  }

 private:
  /// The bytes of the sizes and of the elements.
  static std::string key_of(const Tensor& tensor) {
    const Tensor plain = tensor.row_major();
    const auto dims = plain.shape().dims();
    std::string key(reinterpret_cast<const char*>(dims.data()), dims.size_bytes());
    const int64_t bytes = plain.num_elements() * size_of(plain.dtype());
    if (bytes > 0) key.append(plain.array().bytes(), size_t(bytes));
    return key;
  }

  std::unique_ptr<BatchStream> input_;
  std::unordered_set<std::string> seen_;
  int64_t read_ = 0;
};

class UniqueNode final : public CopiedNode<UniqueNode> {
 public:
  using CopiedNode::CopiedNode;
  const char* kind() const override { return "Unique"; }
  int64_t cardinality() const override { return kUnknownCardinality; }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<UniqueStream>(input().elements(pass));
  }
};

/// Throws the error of a dataset that has not the number of elements that was promised.
[[noreturn]] DISTRIBUTE_INLINE void throw_other_cardinality(int64_t expected, const char* how,
                                                            int64_t found) {
  const auto elements = [](int64_t count) {
    return str_cat(count, count == 1 ? " element" : " elements");
  };
  const std::string wanted =
      expected == kInfiniteCardinality ? "an infinite number of elements" : elements(expected);
  throw FailedPreconditionError(str_cat("assert_cardinality: the dataset was expected to contain ",
                                        wanted, " but contained ", how, " ", elements(found)));
}

template <typename T>
class AssertCardinalityStream final : public Stream<T> {
 public:
  AssertCardinalityStream(std::unique_ptr<Stream<T>> input, int64_t expected)
      : input_(std::move(input)), expected_(expected) {}
  bool next(T& out) override {
    if (!input_->next(out)) return at_end();
    count(1);
    return true;
  }
  int64_t skip(int64_t count) override {
    const int64_t done = input_->skip(count);
    this->count(done);
    if (done < count) at_end();
    return done;
  }
  void save(StateWriter& state) const override {
    state.put(given_);
    input_->save(state);
  }
  void restore(StateReader& state) override {
    given_ = state.get();
    input_->restore(state);
  }

 private:
  void count(int64_t more) {
    given_ += more;
    if (expected_ >= 0 && given_ > expected_)
      throw_other_cardinality(expected_, "at least", expected_ + 1);
  }
  bool at_end() const {
    if (given_ != expected_) throw_other_cardinality(expected_, "only", given_);
    return false;
  }

  std::unique_ptr<Stream<T>> input_;
  int64_t expected_, given_ = 0;
};

class AssertCardinalityNode final : public SelectionNode<AssertCardinalityNode> {
 public:
  AssertCardinalityNode(NodePtr input, int64_t expected)
      : SelectionNode(std::move(input)), expected_(expected) {}
  const char* kind() const override { return "AssertCardinality"; }
  std::vector<int64_t> parameters() const override { return {expected_}; }
  int64_t cardinality() const override { return expected_; }
  template <typename T>
  std::unique_ptr<Stream<T>> open(const Pass& pass) const {
    return std::make_unique<AssertCardinalityStream<T>>(open_stream<T>(input(), pass), expected_);
  }

 private:
  int64_t expected_;
};

class IgnoreErrorsStream final : public OneToOneStream<Batch> {
 public:
  IgnoreErrorsStream(std::unique_ptr<BatchStream> input, bool log_warning)
      : OneToOneStream(std::move(input)), log_warning_(log_warning) {}
  bool next(Batch& out) override {
    FruitlessSteps fruitless("ignore_errors: elements could not be made");
    for (;; fruitless.add()) {
      try {
        return input().next(out);
      } catch (const CancelledError&) {
        throw;
      } catch (const Error& error) {
        if (log_warning_) log_warning("data", str_cat("ignore_errors: ", error.what()));
      }
    }
  }
  /// Elements that cannot be made do not count.
  int64_t skip(int64_t count) override { return BatchStream::skip(count); }

 private:
  bool log_warning_;
};

class IgnoreErrorsNode final : public CopiedNode<IgnoreErrorsNode> {
 public:
  IgnoreErrorsNode(NodePtr input, bool log_warning)
      : CopiedNode(std::move(input)), log_warning_(log_warning) {}
  const char* kind() const override { return "IgnoreErrors"; }
  int64_t cardinality() const override { return unknown_unless_infinite(); }
  std::unique_ptr<BatchStream> elements(const Pass& pass) const override {
    return std::make_unique<IgnoreErrorsStream>(input().elements(pass), log_warning_);
  }

 private:
  bool log_warning_;
};

}  // namespace data_internal

DISTRIBUTE_INLINE NodePtr take_while_node(NodePtr input, Predicate predicate) {
  return std::make_shared<data_internal::TakeWhileNode>(std::move(input), std::move(predicate));
}

DISTRIBUTE_INLINE NodePtr unique_node(NodePtr input) {
  const ElementSpec spec = input->element_spec();
  const bool good =
      spec.size() == 1 && (spec[0].dtype == DType::Int32 || spec[0].dtype == DType::Int64 ||
                           spec[0].dtype == DType::UInt8);
  if (!good)
    throw InvalidArgumentError(
        "unique: elements must be one tensor of int32, int64 or bytes (uint8), "
        "they are " +
        to_string(spec));
  return std::make_shared<data_internal::UniqueNode>(std::move(input));
}

DISTRIBUTE_INLINE NodePtr assert_cardinality_node(NodePtr input, int64_t expected_cardinality) {
  if (expected_cardinality < kInfiniteCardinality)
    throw InvalidArgumentError(str_cat(
        "assert_cardinality: expects a number of elements or kInfiniteCardinality (-1), got ",
        expected_cardinality));
  return std::make_shared<data_internal::AssertCardinalityNode>(std::move(input),
                                                                expected_cardinality);
}

DISTRIBUTE_INLINE NodePtr ignore_errors_node(NodePtr input, bool log_warning) {
  return std::make_shared<data_internal::IgnoreErrorsNode>(std::move(input), log_warning);
}

DISTRIBUTE_INLINE Dataset Dataset::take_while(Predicate predicate) const {
  return Dataset(take_while_node(node_, std::move(predicate)));
}

DISTRIBUTE_INLINE Dataset Dataset::unique() const { return Dataset(unique_node(node_)); }

DISTRIBUTE_INLINE Dataset Dataset::assert_cardinality(int64_t expected_cardinality) const {
  return Dataset(assert_cardinality_node(node_, expected_cardinality));
}

DISTRIBUTE_INLINE Dataset Dataset::ignore_errors(bool log_warning) const {
  return Dataset(ignore_errors_node(node_, log_warning));
}

DISTRIBUTE_INLINE Batch Dataset::at(int64_t index) const {
  const int64_t count = cardinality();
  if (count == kInfiniteCardinality)
    throw FailedPreconditionError("at: the dataset never ends; give `take(count)` first");
  if (count == kUnknownCardinality)
    throw UnimplementedError(
        "at: the dataset's elements have no numbers, as its cardinality is unknown; read it with "
        "an "
        "iterator, or say how many there are with `assert_cardinality`");
  if (index < 0 || index >= count)
    throw OutOfRangeError(str_cat("at: index ", index, " is out of range [0, ", count, ")"));
  const auto stream = node_->elements({});
  Batch element;
  if (stream->skip(index) < index || !stream->next(element))
    throw OutOfRangeError(str_cat("at: the dataset ends before its element ", index));
  return element;
}

}  // namespace distribute::data
