#pragma once
/// The input pipeline: a chain of transformations that gives batches, as tf.data.Dataset.

#include <distribute/base/config.hpp>
#include <distribute/data/batching.hpp>
#include <distribute/data/iterator.hpp>
#include <distribute/data/selection.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace distribute::data {

/// A cheap handle to an immutable graph of transformations; thread-safe. Its elements come in the
/// same order whatever the number of threads.
/// Source  tf.data.Dataset
class Dataset {
 public:
  explicit Dataset(NodePtr node) : node_(std::move(node)) {}

  /// One element per row of the tensors, which must have equally many.
  static Dataset from_tensor_slices(Tensor x, Tensor y = {}, std::vector<Tensor> more = {});
  /// Scalars int64.
  static Dataset range(int64_t stop) { return range(0, stop); }
  static Dataset range(int64_t start, int64_t stop, int64_t step = 1);

  Dataset shuffle(int64_t buffer_size, const ShuffleOptions& options = {}) const {
    return Dataset(shuffle_node(node_, buffer_size, options));
  }
  Dataset batch(int64_t batch_size, bool drop_remainder = false) const {
    return Dataset(batch_node(node_, batch_size, drop_remainder));
  }
  Dataset unbatch() const { return Dataset(unbatch_node(node_)); }
  /// Cuts batches anew, with `sizes` in turn.
  Dataset rebatch(std::vector<int64_t> sizes, bool drop_remainder = false) const {
    return Dataset(rebatch_node(node_, std::move(sizes), drop_remainder));
  }
  Dataset repeat(int64_t count = -1) const { return Dataset(repeat_node(node_, count)); }
  Dataset take(int64_t count) const { return Dataset(take_node(node_, count)); }
  Dataset skip(int64_t count) const { return Dataset(skip_node(node_, count)); }
  Dataset shard(int64_t num_shards, int64_t index) const {
    return Dataset(shard_node(node_, num_shards, index));
  }

  /// Number of elements, kInfiniteCardinality or kUnknownCardinality.
  int64_t cardinality() const { return node_->cardinality(); }
  ElementSpec element_spec() const { return node_->element_spec(); }

  /// A new pass from the beginning; shuffles draw a new order each time.
  Iterator iterator() const { return Iterator(node_); }

  /// For `for (auto batch : dataset)`.
  class LoopIterator {
   public:
    explicit LoopIterator(Iterator it) : it_(std::move(it)) { ++*this; }
    Batch& operator*() { return *element_; }
    LoopIterator& operator++() {
      element_.reset();  // its memory serves the next element
      element_ = it_.get_next_as_optional();
      return *this;
    }
    bool operator!=(std::nullptr_t) const { return element_.has_value(); }

   private:
    Iterator it_;
    std::optional<Batch> element_;
  };
  LoopIterator begin() const { return LoopIterator(iterator()); }
  std::nullptr_t end() const { return nullptr; }

  /// For strategies: the last transformation.
  const NodePtr& node() const { return node_; }

 private:
  NodePtr node_;
};

}  // namespace distribute::data

#ifdef DISTRIBUTE_HEADER_ONLY
#include <distribute/data/impl/dataset.ipp>
#endif
