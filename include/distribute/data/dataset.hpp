#pragma once
/// The input pipeline: a chain of transformations that gives batches, as tf.data.Dataset.

#include <distribute/base/config.hpp>
#include <distribute/data/batching.hpp>
#include <distribute/data/combine.hpp>
#include <distribute/data/interleave.hpp>
#include <distribute/data/iterator.hpp>
#include <distribute/data/options.hpp>
#include <distribute/data/pipeline_statistics.hpp>
#include <distribute/data/prefetch.hpp>
#include <distribute/data/rebatch.hpp>
#include <distribute/data/selection.hpp>
#include <distribute/data/shuffle.hpp>
#include <distribute/data/sources.hpp>
#include <distribute/data/transform.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
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
  /// As generator_source: `factory` starts a function that gives elements until it gives none.
  static Dataset from_generator(GeneratorFactory factory, ElementSpec spec) {
    return Dataset(generator_source(std::move(factory), std::move(spec)));
  }
  /// The elements of reader(path) for each path in turn.
  static Dataset from_files(std::vector<std::string> paths,
                            std::function<Dataset(const std::string&)> reader);
  static Dataset zip(const std::vector<Dataset>& datasets);

  /// Calls `function` on every element.
  Dataset map(MapFunction function, const MapOptions& options = {}) const {
    return Dataset(map_node(node_, std::move(function), options));
  }
  Dataset filter(Predicate predicate) const {
    return Dataset(filter_node(node_, std::move(predicate)));
  }
  /// The elements of the datasets that `function` makes of this one's elements, in turn.
  Dataset interleave(std::function<Dataset(const Batch&)> function,
                     const InterleaveOptions& options = {}) const;

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
  Dataset concatenate(const Dataset& other) const {
    return Dataset(concatenate_node(node_, other.node_));
  }
  Dataset cache() const { return Dataset(cache_node(node_)); }
  Dataset prefetch(int64_t buffer_size = kAutotune) const {
    return Dataset(prefetch_node(node_, buffer_size));
  }
  /// Counts the elements and the time that the consumer waits for them, as `stage`.
  Dataset measure(PipelineStatisticsPtr statistics, const std::string& stage) const {
    return Dataset(measure_node(node_, std::move(statistics), stage));
  }
  /// A first component with the element's number, int64. Source  tf.data.Dataset.enumerate
  Dataset enumerate(int64_t start = 0) const { return zip({range(start, INT64_MAX), *this}); }
  Dataset with_options(const Options& options) const {
    return Dataset(options_node(node_, options));
  }
  Options options() const { return options_of(*node_); }

  /// function(... function(function(initial, first), second) ..., last).
  /// Throws  InvalidArgumentError for a dataset without an end.
  template <typename State, typename Function>
  State reduce(State initial, Function function) const {
    require_end(cardinality(), "reduce", "it `.take(count)`");
    for (const Batch& element : *this) initial = function(std::move(initial), element);
    return initial;
  }

  /// Number of elements, kInfiniteCardinality or kUnknownCardinality.
  int64_t cardinality() const { return node_->cardinality(); }
  ElementSpec element_spec() const { return node_->element_spec(); }

  /// A new pass from the beginning; shuffles draw a new order each time.
  Iterator iterator() const { return Iterator(node_); }

  /// For `for (auto batch : dataset)`.
  LoopIterator<Iterator> begin() const { return LoopIterator(iterator()); }
  std::nullptr_t end() const { return nullptr; }

  /// For strategies: the last transformation.
  const NodePtr& node() const { return node_; }

 private:
  NodePtr node_;
};

}  // namespace distribute::data
