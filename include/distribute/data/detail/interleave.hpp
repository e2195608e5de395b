#pragma once
/// Reads several datasets in turn.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <functional>

namespace distribute::data {

/// Makes the part of an interleaved dataset that belongs to one element.
using NodeFunction = std::function<NodePtr(const Batch&)>;

/// Saved positions are those of the elements handed out, with any number of threads.
/// Throws  InvalidArgumentError for numbers below 1, or `deterministic = false` with one thread.
/// Source  tf.data.Dataset.interleave
NodePtr interleave_node(NodePtr input, NodeFunction function, const InterleaveOptions& options);

}  // namespace distribute::data
