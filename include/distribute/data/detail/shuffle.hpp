#pragma once
/// Shuffles elements; the same seed gives the same order in every process.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>

namespace distribute::data {

/// Draws each element at random from the next `buffer_size` elements. For rows of a table the
/// buffer holds their numbers.
/// Throws  InvalidArgumentError for a buffer size below 1.
NodePtr shuffle_node(NodePtr input, int64_t buffer_size, const ShuffleOptions& options);

}  // namespace distribute::data
