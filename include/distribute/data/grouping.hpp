#pragma once
/// Windows, padded batches, and elements taken from several datasets.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace distribute::data {

class Dataset;

/// Options of Dataset::window(). Source  tf.data.Dataset.window
struct WindowOptions {
  std::optional<int64_t> shift = {};  // distance between the starts of two windows; unset: size
  int64_t stride = 1;                 // distance between two elements of a window
  bool drop_remainder = false;        // drops windows that are not full
};

/// Gives each window as one element, its elements stacked as batch() does.
/// Throws  InvalidArgumentError for numbers below 1; at windows whose elements differ in shape.
NodePtr window_node(NodePtr input, int64_t size, const WindowOptions& options);

/// The result of Dataset::window(): windows, each a small dataset. A cheap handle.
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

/// Options of sample_from_datasets(). Source  tf.data.Dataset.sample_from_datasets
struct SampleOptions {
  /// One weight for each dataset; without weights all are equal.
  std::vector<double> weights = {};
  /// The seed, used as ShuffleOptions::seed is.
  std::optional<uint64_t> seed = {};
  bool stop_on_empty_dataset = false;
  bool rerandomize_each_iteration = true;
};

/// Does what choose_node() does with random choices, which differ from TensorFlow's.
/// Throws  InvalidArgumentError for weights that are negative, all 0 or not as many as inputs.
NodePtr sample_node(std::vector<NodePtr> inputs, const SampleOptions& options);

}  // namespace distribute::data
