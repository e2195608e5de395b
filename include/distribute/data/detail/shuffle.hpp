#pragma once
/// Random order, the same for the same seed in every process.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <optional>

namespace distribute::data {

/// Options of Dataset::shuffle(). Source  tf.data.Dataset.shuffle
struct ShuffleOptions {
  /// Without one the global seed (tf.random.set_seed's) is taken: the same order in every process.
  std::optional<uint64_t> seed = {};
  bool reshuffle_each_iteration = true;
};

/// Gives a random one of the next `buffer_size` elements; of rows of a table it holds the numbers.
/// Throws  InvalidArgumentError for a buffer size below 1.
NodePtr shuffle_node(NodePtr input, int64_t buffer_size, const ShuffleOptions& options);

}  // namespace distribute::data
