#pragma once
/// A position in a dataset, which gives the next element and can be saved and restored.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace distribute::data {

/// One pass over a dataset. Movable; one thread at a time.
/// Source  tf.data.Iterator
class Iterator {
 public:
  explicit Iterator(NodePtr dataset);
  Iterator(Iterator&&) = default;
  Iterator& operator=(Iterator&& other) noexcept;  // a stream must not outlive its dataset

  /// Gives the next element.
  /// Throws  OutOfRangeError at the end, and in all later calls; what a `map` function throws;
  ///         CancelledError when this thread's work was cancelled (base/threads.hpp).
  Batch next();
  Batch get_next() { return next(); }
  /// Does what next() does, but is empty at the end. Source  tf.data.Iterator.get_next_as_optional
  std::optional<Batch> get_next_as_optional();
  std::optional<Batch> next_if_any() { return get_next_as_optional(); }
  ElementSpec element_spec() const { return dataset_->element_spec(); }
  /// Returns whether all elements have the same sizes, as far as the dataset knows.
  bool is_statically_shaped() const {
    return dataset_->spec_is_exact() && is_static(dataset_->element_spec());
  }

  /// Returns the position as a few numbers: int64 [n], where n may change from element to element.
  Tensor state() const;
  /// Continues exactly where `state()` was taken, in this process or another, with the same order
  /// of shuffles. Rows of a table are found at once; examples that a shuffle, generator or cache
  /// holds back are made again from the start of the epoch.
  /// Throws  InvalidArgumentError for the state of another pipeline, which says what has changed;
  ///         the position then stays as it was.
  void restore(const Tensor& state);

 private:
  NodePtr dataset_;
  Pass pass_;
  std::unique_ptr<BatchStream> stream_;
};

/// Holds what next() gives; empty when next() throws OutOfRangeError.
template <typename T>
concept ElementSource = requires(T source) {
  *source.next_if_any();
};

/// The iterator of loops over datasets: it holds one element of an Iterator or DistributedIterator,
/// and ends at the nullptr that end() gives.
template <ElementSource Source>
class LoopIterator {
 public:
  explicit LoopIterator(Source source) : source_(std::move(source)) { ++*this; }
  auto& operator*() { return *element_; }
  LoopIterator& operator++() {
    element_.reset();  // so that its memory serves the next element
    element_ = source_.next_if_any();
    return *this;
  }
  bool operator!=(std::nullptr_t) const { return element_.has_value(); }

 private:
  Source source_;
  decltype(source_.next_if_any()) element_;
};

}  // namespace distribute::data
