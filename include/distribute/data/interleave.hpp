#pragma once
/// Reads several datasets in turn.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <functional>

namespace distribute::data {

/// Makes the part of an interleaved dataset that belongs to one element.
using NodeFunction = std::function<NodePtr(const Batch&)>;

struct InterleaveOptions {
  int64_t cycle_length = 2;  // parts read in turn
  int64_t block_length = 1;  // elements of a part before the next one's turn
};

/// Source  tf.data.Dataset.interleave
NodePtr interleave_node(NodePtr input, NodeFunction function, const InterleaveOptions& options);

}  // namespace distribute::data
