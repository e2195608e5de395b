#pragma once
/// Batches of examples that differ in size: padded, and grouped by length.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <functional>
#include <vector>

namespace distribute::data {

struct PaddedBatchOptions {  // of Dataset::padded_batch
  /// Of each component, without the batch axis; -1: as long as the longest of the batch.
  /// None: -1 everywhere.
  std::vector<std::vector<int64_t>> padded_shapes = {};
  /// A scalar of each component's dtype. None: zeros.
  std::vector<Tensor> padding_values = {};
  bool drop_remainder = false;
};

/// As batch_node; each component is padded at the end of its axes. The spec knows the sizes that
/// `padded_shapes` gives.
/// Throws  InvalidArgumentError for a size below 1, or options that do not fit the components; at
///         an element that is longer than its padded shape.
/// Source  tf.data.Dataset.padded_batch
NodePtr padded_batch_node(NodePtr input, int64_t batch_size, const PaddedBatchOptions& options);

struct BucketOptions {  // of buckets by length
  std::vector<std::vector<int64_t>> padded_shapes = {};
  std::vector<Tensor> padding_values = {};
  /// Unknown sizes become the bucket's boundary - 1; the last bucket must stay empty then.
  bool pad_to_bucket_boundary = false;
  /// The elements of a bucket have equal shapes.
  bool no_padding = false;
  bool drop_remainder = false;
};

using ElementLength = std::function<int64_t(const Batch&)>;

/// Bucket i holds lengths in [boundary i-1, boundary i) and gives batches of its own size once it
/// is full; at the end what is left, the bucket of the shortest first.
/// Throws  InvalidArgumentError unless there is one size more than boundaries, or as
///         padded_batch_node.
/// Source  tf.data.Dataset.bucket_by_sequence_length
NodePtr bucket_node(NodePtr input, ElementLength element_length_func,
                    std::vector<int64_t> bucket_boundaries, std::vector<int64_t> bucket_batch_sizes,
                    const BucketOptions& options);

}  // namespace distribute::data
