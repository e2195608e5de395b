#pragma once
/// Reads several datasets in turn.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <functional>

namespace distribute::data {

/// Makes the part of an interleaved dataset that belongs to one element.
using NodeFunction = std::function<NodePtr(const Batch&)>;

struct InterleaveOptions {   // of Dataset::interleave
  int64_t cycle_length = 2;  // parts read in turn
  int64_t block_length = 1;  // elements of a part before the next one's turn
  /// Parts opened and read ahead at the same time, each on its own thread; kAutotune as for map.
  int64_t num_parallel_calls = 1;
  /// False: a part that has nothing yet is passed over, so that the order depends on threads.
  bool deterministic = true;
};

/// Saved positions are those of the elements handed out, with any number of threads.
/// Throws  InvalidArgumentError for numbers below 1, or `deterministic = false` with one thread.
/// Source  tf.data.Dataset.interleave
NodePtr interleave_node(NodePtr input, NodeFunction function, const InterleaveOptions& options);

}  // namespace distribute::data
