#pragma once
/// Transformations that choose elements without looking at them.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>

namespace distribute::data {

/// Each function throws  InvalidArgumentError for sizes below what its name allows. On rows of a
/// table they move row numbers instead of examples. take_node() gives the first `count` elements
/// (-1: all), skip_node() all but these (-1: nothing is left).
NodePtr take_node(NodePtr input, int64_t count);
NodePtr skip_node(NodePtr input, int64_t count);
/// Gives the elements `count` times (-1: without end).
NodePtr repeat_node(NodePtr input, int64_t count);
/// Gives the elements index, index + num_shards, index + 2 num_shards, ...
NodePtr shard_node(NodePtr input, int64_t num_shards, int64_t index);

}  // namespace distribute::data
