#pragma once
/// The input pipeline: a chain of transformations that gives batches, as tf.data.Dataset.

#include <distribute/base/config.hpp>
#include <distribute/data/distribute_options.hpp>
#include <distribute/data/iterator.hpp>
#include <distribute/data/node.hpp>
#include <distribute/data/pipeline_statistics.hpp>
#include <distribute/io/detail/compression_type.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace distribute::data {

struct BucketOptions;
struct PaddedBatchOptions;
struct ResampleOptions;
struct SampleOptions;
struct LoadOptions;
struct SnapshotOptions;
struct WindowOptions;
class Windows;

/// A function that makes one element from another.
template <typename Function>
concept MapCallable = requires(const Function& function, const Batch& element) {
  to_batch(data_internal::call_with_element(function, element));
};
/// A function that says whether an element is kept, other than a Predicate.
template <typename Function>
concept FilterCallable = !std::convertible_to<Function, Predicate> &&
                         requires(const Function& function, const Batch& element) {
  bool(data_internal::call_with_element(function, element));
};

/// A cheap handle to an immutable graph of transformations; thread-safe. The order of its elements
/// does not depend on the number of threads, unless an option `deterministic` is false.
/// Source  tf.data.Dataset
class Dataset {
 public:
  explicit Dataset(NodePtr node) : node_(std::move(node)) {}

  /// Gives one element for each row of the tensors, which must have the same number of rows.
  static Dataset from_tensor_slices(Tensor x, Tensor y = {}, std::vector<Tensor> more = {});
  /// Makes a dataset of the slices of components that are given in braces: {x, y} or {x, y,
  /// weights}.
  template <std::same_as<Tensor> T>
  static Dataset from_tensor_slices(std::initializer_list<T> components) {
    return from_rows(Batch::from_components(components));
  }
  /// Makes a dataset of the slices of all tensors of a TensorMap, a structure or a Batch.
  template <ElementValue T>
  static Dataset from_tensor_slices(const T& value) {
    return from_rows(to_batch(value));
  }
  /// Gives a dataset of one element: a tensor, a TensorMap, a structure of tensors or a Batch.
  template <ElementValue T>
  static Dataset from_tensors(const T& value) {
    return Dataset(element_source(to_batch(value)));
  }
  template <std::same_as<Tensor> T>
  static Dataset from_tensors(std::initializer_list<T> components) {
    return from_tensors(Batch::from_components(components));
  }
  /// Gives int64 scalars from `start` (0 without it) up to, but without, `stop`.
  static Dataset range(int64_t stop) { return range(0, stop); }
  static Dataset range(int64_t start, int64_t stop, int64_t step = 1);
  /// Gives the elements of a generator, as generator_source() does: `factory` makes a function that
  /// returns elements until it returns nothing.
  static Dataset from_generator(GeneratorFactory factory, ElementSpec spec) {
    return Dataset(generator_source(std::move(factory), std::move(spec)));
  }
  /// Gives the elements of reader(path) for each path in turn.
  static Dataset from_files(std::vector<std::string> paths,
                            std::function<Dataset(const std::string&)> reader);
  /// Joins the components of all datasets' elements; ends with the shortest dataset.
  static Dataset zip(const std::vector<Dataset>& datasets);
  /// Takes each element from the dataset whose number comes next in `choices`, int64 scalars
  /// (data/grouping.hpp).
  static Dataset choose_from_datasets(const std::vector<Dataset>& datasets, const Dataset& choices,
                                      bool stop_on_empty_dataset = true);
  /// Takes elements from the datasets in a random order, by weights when the options have them.
  static Dataset sample_from_datasets(const std::vector<Dataset>& datasets);
  static Dataset sample_from_datasets(const std::vector<Dataset>& datasets,
                                      const SampleOptions& options);
  /// Reads what save() wrote, here or in TensorFlow: data/files.hpp.
  static Dataset load(const std::string& path, io::Compression compression = io::Compression::Auto);
  static Dataset load(const std::string& path, const LoadOptions& options);

  /// Calls `function` on every element, which comes as a Batch, what a Batch converts to, or as its
  /// tensors: `[](const Tensor& x, const Tensor& y) { return std::pair(x / 255, y); }`. It gives a
  /// Batch, a tensor, several in a pair or tuple, a TensorMap or a structure of tensors.
  template <MapCallable Function>
  Dataset map(Function function, const MapOptions& options = {}) const {
    return Dataset(map_node(
        node_,
        [function = std::move(function)](const Batch& e) {
          return to_batch(data_internal::call_with_element(function, e));
        },
        options));
  }
  /// Keeps the elements for which `predicate` is true. It takes elements as those of map() do, and
  /// gives a bool or a tensor of one.
  Dataset filter(Predicate predicate) const {
    return Dataset(filter_node(node_, std::move(predicate)));
  }
  template <FilterCallable Function>
  Dataset filter(Function predicate) const {
    return filter(Predicate([predicate = std::move(predicate)](const Batch& element) {
      const auto kept = data_internal::call_with_element(predicate, element);
      if constexpr (std::same_as<std::remove_cv_t<decltype(kept)>, Tensor>)
        return data_internal::is_true(kept);
      else
        return bool(kept);
    }));
  }
  /// Gives transformation(*this): a chain of transformations that has a name of its own.
  /// Source  tf.data.Dataset.apply
  template <typename Function>
  auto apply(Function transformation) const {
    return transformation(*this);
  }
  /// Gives the elements before the first one for which `predicate` is false.
  Dataset take_while(Predicate predicate) const;
  /// Gives each element of int32, int64 or bytes once, where it comes first.
  Dataset unique() const;
  /// Calls scan_func(state, element), which gives std::pair(next state, result), on every element:
  /// a state goes from element to element, and starts with `initial_state` in each pass
  /// (data/detail/stateful.hpp).
  template <ElementValue State, typename Function>
  Dataset scan(const State& initial_state, Function scan_func,
               std::optional<ElementSpec> output_spec = {}) const {
    return scan_batches(
        to_batch(initial_state),
        [scan_func = std::move(scan_func)](const Batch& state, const Batch& element) {
          auto [next, result] = scan_func(state, element);
          return std::pair(to_batch(std::move(next)), to_batch(std::move(result)));
        },
        std::move(output_spec));
  }
  /// Leaves elements out whose making throws an Error; `log_warning` logs the message of each.
  Dataset ignore_errors(bool log_warning = false) const;
  /// Gives the elements of the datasets that `function` makes from this one's elements, in turn.
  Dataset interleave(std::function<Dataset(const Batch&)> function,
                     const InterleaveOptions& options = {}) const;

  /// Does what interleave() does, but takes one dataset after another.
  Dataset flat_map(std::function<Dataset(const Batch&)> function) const {
    return interleave(std::move(function), {.cycle_length = 1});
  }

  /// Draws each element from the next `buffer_size` elements, in a new order in each pass. With a
  /// buffer as large as the dataset every order is equally likely.
  /// Throws  InvalidArgumentError for a size below 1.
  Dataset shuffle(int64_t buffer_size, const ShuffleOptions& options = {}) const;
  /// Joins `batch_size` elements along a new first axis. The last batch may be smaller; with
  /// `drop_remainder` it is dropped then.
  /// Throws  InvalidArgumentError for a size below 1.
  Dataset batch(int64_t batch_size, bool drop_remainder = false) const;
  /// Does what batch() does for examples that differ in size: data/grouping.hpp.
  Dataset padded_batch(int64_t batch_size) const;
  Dataset padded_batch(int64_t batch_size, const PaddedBatchOptions& options) const;
  /// Makes padded batches of elements of about the same length (data/grouping.hpp).
  Dataset bucket_by_sequence_length(std::function<int64_t(const Batch&)> element_length_func,
                                    std::vector<int64_t> bucket_boundaries,
                                    std::vector<int64_t> bucket_batch_sizes) const;
  Dataset bucket_by_sequence_length(std::function<int64_t(const Batch&)> element_length_func,
                                    std::vector<int64_t> bucket_boundaries,
                                    std::vector<int64_t> bucket_batch_sizes,
                                    const BucketOptions& options) const;
  /// Gathers elements with the same key into windows of `window_size`, and gives what reduce_func
  /// makes of each (data/grouping.hpp).
  Dataset group_by_window(std::function<int64_t(const Batch&)> key_func,
                          std::function<Dataset(int64_t key, const Dataset& window)> reduce_func,
                          int64_t window_size) const;
  /// Groups by key like the function above, into windows of window_size_func(key) elements.
  Dataset group_by_window(std::function<int64_t(const Batch&)> key_func,
                          std::function<Dataset(int64_t key, const Dataset& window)> reduce_func,
                          std::function<int64_t(int64_t key)> window_size_func) const;
  /// Drops and repeats elements so that their classes are distributed as `target_dist`, and puts
  /// the class in front of the components (data/grouping.hpp).
  Dataset rejection_resample(std::function<int64_t(const Batch&)> class_func,
                             std::vector<float> target_dist) const;
  Dataset rejection_resample(std::function<int64_t(const Batch&)> class_func,
                             std::vector<float> target_dist, const ResampleOptions& options) const;
  /// Makes batches of elements that differ in size, with the sizes beside them (data/grouping.hpp).
  Dataset ragged_batch(int64_t batch_size, bool drop_remainder = false) const;
  /// Makes windows of `size` elements, each a small dataset (data/grouping.hpp).
  Windows window(int64_t size) const;
  Windows window(int64_t size, const WindowOptions& options) const;
  /// Gives the rows of each batch one by one.
  Dataset unbatch() const;
  /// Cuts batches into batches with `sizes` in turn.
  Dataset rebatch(std::vector<int64_t> sizes, bool drop_remainder = false) const;
  /// Gives the elements `count` times; -1: without end.
  Dataset repeat(int64_t count = -1) const;
  /// Gives the first `count` elements; -1: all.
  Dataset take(int64_t count) const;
  /// Gives all but the first `count` elements; -1: none.
  Dataset skip(int64_t count) const;
  /// Gives the elements index, index + num_shards, index + 2 num_shards, ...
  Dataset shard(int64_t num_shards, int64_t index) const;
  /// Gives all elements of this dataset, then all of `other`.
  /// Throws  InvalidArgumentError when their elements do not fit together.
  Dataset concatenate(const Dataset& other) const;
  /// Keeps the elements of the first whole pass in memory for later ones.
  Dataset cache() const;
  /// Keeps the elements in a file, for later programs too (data/files.hpp).
  Dataset cache(const std::string& filename) const;
  /// Writes all elements into a directory: data/files.hpp.
  void save(const std::string& path, io::Compression compression = io::Compression::None) const;
  /// Writes the elements into files while they are read, and reads these afterwards
  /// (data/files.hpp).
  Dataset snapshot(const std::string& path) const;
  Dataset snapshot(const std::string& path, const SnapshotOptions& options) const;
  /// Keeps up to `buffer_size` elements ready, made by a thread; kAutotune: as many as help within
  /// AutotuneOptions::ram_budget, 0: no thread.
  Dataset prefetch(int64_t buffer_size = kAutotune) const;
  /// Counts the elements and the time that the consumer waits for them, under the name `stage`.
  Dataset measure(PipelineStatisticsPtr statistics, const std::string& stage) const;
  /// Puts the element's number, int64, in front of its components.
  /// Source  tf.data.Dataset.enumerate
  Dataset enumerate(int64_t start = 0) const { return zip({range(start, INT64_MAX), *this}); }
  /// Gives the same elements with further options, which replace earlier ones.
  Dataset with_options(const Options& options) const;
  /// Gives all options of this dataset and of those that it is made from.
  Options options() const;

  /// Computes function(... function(function(initial, first), second) ..., last).
  /// Throws  InvalidArgumentError for a dataset without an end.
  template <typename State, typename Function>
  State reduce(State initial, Function function) const {
    require_end(cardinality(), "reduce", "it `.take(count)`");
    for (const Batch& element : *this) initial = function(std::move(initial), element);
    return initial;
  }

  /// Returns the number of elements, or kInfiniteCardinality or kUnknownCardinality.
  int64_t cardinality() const { return node_->cardinality(); }
  /// Gives the same elements and says that there are `expected_cardinality` of them.
  /// Throws  FailedPreconditionError while reading when there are more or fewer.
  /// Source  tf.data.experimental.assert_cardinality
  Dataset assert_cardinality(int64_t expected_cardinality) const;
  /// Gives element `index` of the first pass. On rows in memory, and what map, batch, take, skip,
  /// shard, zip and concatenate make of them, it makes this element alone.
  /// Throws  OutOfRangeError outside of the dataset; FailedPreconditionError for one without an
  ///         end; UnimplementedError where elements are not numbered, as after a filter.
  /// Source  tf.data.experimental.at
  Batch at(int64_t index) const;
  /// Names, shapes and dtypes of the components. A size of -1 differs between elements.
  ElementSpec element_spec() const { return node_->element_spec(); }

  /// Starts a new pass from the beginning; shuffles draw a new order in each pass.
  Iterator iterator() const { return Iterator(node_); }

  /// Loops `for (auto batch : dataset)` call these.
  LoopIterator<Iterator> begin() const;
  std::nullptr_t end() const { return nullptr; }

  /// Returns the last transformation, which strategies need.
  const NodePtr& node() const { return node_; }

 private:
  static Dataset from_rows(const Batch& rows);
  Dataset scan_batches(Batch initial_state,
                       std::function<std::pair<Batch, Batch>(const Batch&, const Batch&)> scan_func,
                       std::optional<ElementSpec> output_spec) const;

  NodePtr node_;
};

}  // namespace distribute::data
