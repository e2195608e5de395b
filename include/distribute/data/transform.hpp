#pragma once
/// Transformations by a function of the user: map and filter.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <functional>
#include <optional>

namespace distribute::data {

/// As many threads, or as large a buffer, as suits the machine. Source  tf.data.AUTOTUNE
inline constexpr int64_t kAutotune = -1;

/// How many threads an option `num_parallel_calls` asks for.
int64_t num_threads_for(int64_t num_parallel_calls);

using MapFunction = std::function<Batch(const Batch&)>;
using Predicate = std::function<bool(const Batch&)>;

struct MapOptions {  // of Dataset::map
  /// Calls running at the same time, each on its own thread; the order of elements stays.
  /// kAutotune: config::threading's inter_op_parallelism_threads, or one for each core.
  int64_t num_parallel_calls = 1;
  /// Of the results; without it the function is called once on the first element to find out.
  std::optional<ElementSpec> output_spec = {};
};

/// The function is not called for elements that a later skip, shard or restore drops.
/// Throws  what the function throws, at the element it threw for; the next call goes on behind it.
/// Source  tf.data.Dataset.map
NodePtr map_node(NodePtr input, MapFunction function, const MapOptions& options);

/// Source  tf.data.Dataset.filter
NodePtr filter_node(NodePtr input, Predicate predicate);

}  // namespace distribute::data
