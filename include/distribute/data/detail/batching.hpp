#pragma once
/// Joins examples into batches.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>

namespace distribute::data {

/// Joins `batch_size` examples along a new first axis; the rows of a table are gathered straight
/// into the batch. The last batch may be smaller unless `drop_remainder` is set.
/// Throws  InvalidArgumentError for a size below 1.
/// Source  tf.data.Dataset.batch
NodePtr batch_node(NodePtr input, int64_t batch_size, bool drop_remainder);

}  // namespace distribute::data
