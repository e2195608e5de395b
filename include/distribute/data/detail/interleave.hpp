#pragma once
/// Reads several datasets alternately.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <functional>

namespace distribute::data {

/// Makes the dataset that belongs to one element of the input.
using NodeFunction = std::function<NodePtr(const Batch&)>;

/// Reads the datasets that `function` makes, several at a time and in turn. A saved position is
/// that of the elements handed out, with any number of threads.
/// Throws  InvalidArgumentError for numbers below 1, or `deterministic = false` with one thread.
/// Source  tf.data.Dataset.interleave
NodePtr interleave_node(NodePtr input, NodeFunction function, const InterleaveOptions& options);

}  // namespace distribute::data
