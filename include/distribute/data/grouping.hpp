#pragma once
/// Windows, series of time, padded batches, and elements taken from several datasets.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace distribute::data {

class Dataset;

/// Holds the options of Dataset::window(). Source  tf.data.Dataset.window
struct WindowOptions {
  std::optional<int64_t> shift = {};  // distance between the starts of two windows; unset: size
  int64_t stride = 1;                 // distance between two elements of a window
  bool drop_remainder = false;        // drops windows that are not full
};

/// Gives each window as one element, its elements stacked as batch() does.
/// Throws  InvalidArgumentError for numbers below 1; at windows whose elements differ in shape.
NodePtr window_node(NodePtr input, int64_t size, const WindowOptions& options);

/// What Dataset::window() returns: a sequence of windows, each a small dataset. Copies are cheap.
/// Source  the dataset of datasets that tf.data.Dataset.window gives
class Windows {
 public:
  explicit Windows(NodePtr stacked) : stacked_(std::move(stacked)) {}
  /// Gives the elements of the datasets that `function` makes from the windows, one window after
  /// another:
  /// `windows.flat_map([](const Dataset& window) { return window.batch(5); })`.
  Dataset flat_map(std::function<Dataset(const Dataset&)> function) const;
  /// Gives each window as one batch, as a flat_map with `batch(size)` does.
  Dataset batch() const;
  int64_t cardinality() const { return stacked_->cardinality(); }

 private:
  NodePtr stacked_;
};

/// Holds the options of timeseries_dataset_from_array().
struct TimeseriesOptions {
  int64_t sequence_stride = 1;              // distance between the starts of two sequences
  int64_t sampling_rate = 1;                // distance between two steps of a sequence
  std::optional<int64_t> batch_size = 128;  // nullopt: no batches
  bool shuffle = false;                     // all sequences, anew in each pass
  std::optional<uint64_t> seed = {};        // used as ShuffleOptions::seed is
  int64_t start_index = 0;                  // of the first row that is used
  std::optional<int64_t> end_index = {};    // of the first row that is not used; unset: all are
};

/// Gives sequences of rows of `data`, each with the row of `targets` that has the number of the
/// sequence's first row. Empty `targets`: sequences alone.
/// Shapes  data [rows, ...], targets [rows, ...] -> [batch, sequence_length, ...], [batch, ...].
/// Throws  InvalidArgumentError for numbers below 1, and for indices, distances and numbers of
///         rows that do not fit.
/// Source  tf.keras.utils.timeseries_dataset_from_array
Dataset timeseries_dataset_from_array(const Tensor& data, const Tensor& targets,
                                      int64_t sequence_length,
                                      const TimeseriesOptions& options = {});

struct PaddedBatchOptions {  // options of Dataset::padded_batch
  /// The shape of each component without the batch axis; -1 means as long as the longest of the
  /// batch. Empty: -1 everywhere.
  std::vector<std::vector<int64_t>> padded_shapes = {};
  /// A scalar of each component's dtype. Empty: zeros.
  std::vector<Tensor> padding_values = {};
  bool drop_remainder = false;
};

/// Does what batch_node() does, and pads each component at the end of its axes. The spec knows the
/// sizes that `padded_shapes` gives.
/// Throws  InvalidArgumentError for a size below 1, or options that do not fit the components; at
///         an element that is longer than its padded shape.
/// Source  tf.data.Dataset.padded_batch
NodePtr padded_batch_node(NodePtr input, int64_t batch_size, const PaddedBatchOptions& options);

struct BucketOptions {  // options of Dataset::bucket_by_sequence_length
  std::vector<std::vector<int64_t>> padded_shapes = {};
  std::vector<Tensor> padding_values = {};
  /// Unknown sizes become the bucket's boundary - 1; no element may then fall into the last bucket.
  bool pad_to_bucket_boundary = false;
  /// Requires that the elements of a bucket have equal shapes, and does not pad.
  bool no_padding = false;
  bool drop_remainder = false;
};

using ElementLength = std::function<int64_t(const Batch&)>;

/// Holds the functions of Dataset::group_by_window().
struct GroupFunctions {
  std::function<int64_t(const Batch&)> key = {};         // tells the window of an element
  std::function<int64_t(int64_t key)> window_size = {};  // number of elements in a full window
  std::function<NodePtr(int64_t key, NodePtr window)> reduce = {};  // makes what a window gives
  /// The spec of what comes out; without it the first window tells.
  std::function<ElementSpec(const ElementSpec& input)> spec = {};
  const char* kind = "GroupByWindow";    // the node's kind
  std::vector<int64_t> parameters = {};  // and its parameters
};

/// Gathers elements with the same key until there are window_size(key) of them, and gives the
/// elements of reduce(key, window). At the end the windows that are not full follow, from the
/// smallest key on. The window is a dataset, which may be read several times.
/// Throws  InvalidArgumentError while reading for a window size below 1; what the functions throw.
/// Source  tf.data.Dataset.group_by_window
NodePtr group_by_window_node(NodePtr input, GroupFunctions functions);

/// Functions of group_by_reducer(), which carry a state from element to element of a key.
/// Source  tf.data.experimental.Reducer
struct Reducer {
  std::function<Batch(int64_t key)> init_func;  // makes the state before a key's first element
  std::function<Batch(const Batch& state, const Batch& element)> reduce_func;
  std::function<Batch(const Batch& state)> finalize_func;  // makes the result
};

/// Reduces the elements of each key to one: `dataset.apply(group_by_reducer(key_func, reducer))`.
/// The results come after all elements have been read, from the smallest key on. The dataset needs
/// an end.
/// Throws  InvalidArgumentError for one without; while reading, what the functions throw.
/// Source  tf.data.experimental.group_by_reducer
std::function<Dataset(const Dataset&)> group_by_reducer(
    std::function<int64_t(const Batch&)> key_func, Reducer reducer);

/// Adds elements of zeros until there are `cardinality`, and to each element a bool component
/// `mask_key`, which is false in those: `dataset.apply(pad_to_cardinality(n))`. So workers with
/// different numbers of elements make the same number of steps.
/// Throws  InvalidArgumentError for elements without names, with a name `mask_key` or without fixed
///         shapes, and for a dataset of more or of an unknown number of elements.
/// Source  tf.data.experimental.pad_to_cardinality
std::function<Dataset(const Dataset&)> pad_to_cardinality(int64_t cardinality,
                                                          std::string mask_key = "valid");

/// Holds the options of Dataset::rejection_resample(). Source  tf.data.Dataset.rejection_resample
struct ResampleOptions {
  /// The distribution of the classes in the dataset. Empty: estimated from the elements, 32 at a
  /// time, with 10 elements of each class counted beforehand.
  std::vector<float> initial_dist = {};
  /// The seed, used as ShuffleOptions::seed is.
  std::optional<uint64_t> seed = {};
};

/// How rejection_resample() mixes the elements of a dataset with those that pass a random choice.
struct ResampleRates {
  std::vector<float> acceptance = {};  // probability with which an element of each class passes
  float original = 0;                  // probability of an element that was not chosen so
};
/// Gives the rates that turn one distribution of classes into another with the fewest rejections.
ResampleRates resample_rates(const std::vector<float>& initial_dist,
                             const std::vector<float>& target_dist);

/// Gives elements whose classes are distributed as `target_dist`, as Batch{class (int32),
/// components...}. Elements are drawn from the whole dataset and from those that pass a random
/// choice, so that some come twice and others never; it ends when either ends. The random numbers
/// differ from TensorFlow's.
/// Throws  InvalidArgumentError for distributions of unequal or no classes; while reading for a
///         class outside of them.
/// Source  tf.data.Dataset.rejection_resample
NodePtr rejection_resample_node(NodePtr input, std::function<int64_t(const Batch&)> class_func,
                                std::vector<float> target_dist, const ResampleOptions& options);

/// Makes batches as padded_batch_node() does of the components whose size is unknown (-1 in the
/// spec), filled up with zeros, and adds the true sizes of each of them as a component behind the
/// others: int64 [batch], or [batch, axes] where several axes are unknown. It is named
/// "<component>_row_lengths" where components have names. Layers take
/// `sequence_mask(row_lengths)` as the mask; strategies cut all components alike.
/// Throws  InvalidArgumentError for a size below 1.
/// Source  tf.data.Dataset.ragged_batch, whose RaggedTensor is to_tensor() and row_lengths() here
NodePtr ragged_batch_node(NodePtr input, int64_t batch_size, bool drop_remainder);

/// Bucket i takes lengths in [boundary i-1, boundary i) and gives a batch of its own size when it
/// is full. At the end the remaining elements follow, from the bucket of the shortest first.
/// Throws  InvalidArgumentError unless there is one size more than boundaries; what
///         padded_batch_node() throws.
/// Source  tf.data.Dataset.bucket_by_sequence_length
NodePtr bucket_node(NodePtr input, ElementLength element_length_func,
                    std::vector<int64_t> bucket_boundaries, std::vector<int64_t> bucket_batch_sizes,
                    const BucketOptions& options);

/// Takes each element from the input whose number `choices` (int64 scalars) gives next. It ends
/// with `choices` and, with `stop_on_empty_dataset`, at the first choice of an ended input;
/// otherwise such choices are skipped.
/// Throws  InvalidArgumentError for no inputs, elements that do not fit together, or a choice that
///         is no input's number.
/// Source  tf.data.Dataset.choose_from_datasets
NodePtr choose_node(std::vector<NodePtr> inputs, NodePtr choices, bool stop_on_empty_dataset);

/// Holds the options of sample_from_datasets(). Source  tf.data.Dataset.sample_from_datasets
struct SampleOptions {
  /// One weight for each dataset; without weights all are equal.
  std::vector<double> weights = {};
  /// The seed, used as ShuffleOptions::seed is.
  std::optional<uint64_t> seed = {};
  bool stop_on_empty_dataset = false;
  bool rerandomize_each_iteration = true;
};

/// Chooses among the inputs as choose_node() does, but at random. TensorFlow chooses other
/// elements.
/// Throws  InvalidArgumentError for weights that are negative, all 0 or not as many as inputs.
NodePtr sample_node(std::vector<NodePtr> inputs, const SampleOptions& options);

}  // namespace distribute::data
