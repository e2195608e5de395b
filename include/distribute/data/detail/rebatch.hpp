#pragma once
/// Cuts batches up: into examples, or into batches of other sizes.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <vector>

namespace distribute::data {

/// Gives the rows of each batch one by one. Source  tf.data.Dataset.unbatch
NodePtr unbatch_node(NodePtr input);

/// Cuts batches into examples and joins these into batches with `sizes` in turn, repeatedly; a size
/// may be 0. The last batch may be smaller, or is dropped. Throws  InvalidArgumentError for no or
/// negative sizes.
/// Source  tf.data.Dataset.rebatch
NodePtr rebatch_node(NodePtr input, std::vector<int64_t> sizes, bool drop_remainder = false);

/// Cuts each batch of B rows into `pieces` batches of ceil(B / pieces); the last ones may be
/// smaller or empty. Source  the rebatching of tf.distribute when the batch size is unknown
NodePtr legacy_rebatch_node(NodePtr input, int64_t pieces);

}  // namespace distribute::data
