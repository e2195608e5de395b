#pragma once
/// Transformations that choose elements without looking at them.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>

namespace distribute::data {

/// Each throws  InvalidArgumentError for sizes below what its name allows.
/// On rows of a table they move row numbers, not examples.
/// The first `count` elements (-1: all), and all but the first `count` (-1: none left).
NodePtr take_node(NodePtr input, int64_t count);
NodePtr skip_node(NodePtr input, int64_t count);
/// `count` times over (-1: without end).
NodePtr repeat_node(NodePtr input, int64_t count);
/// Gives the elements index, index + num_shards, index + 2 num_shards, ...
NodePtr shard_node(NodePtr input, int64_t num_shards, int64_t index);

}  // namespace distribute::data
