#pragma once
/// Random order, the same for the same seed in every process.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>

namespace distribute::data {

/// Gives a random one of the next `buffer_size` elements; of rows of a table it holds the numbers.
/// Throws  InvalidArgumentError for a buffer size below 1.
NodePtr shuffle_node(NodePtr input, int64_t buffer_size, const ShuffleOptions& options);

}  // namespace distribute::data
