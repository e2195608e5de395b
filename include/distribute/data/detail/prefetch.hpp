#pragma once
/// Makes elements before they are asked for, on a thread of its own.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>

namespace distribute::data {

/// Keeps up to `buffer_size` elements ready (kAutotune: 2, and more where the consumer finds none
/// ready and memory allows it; 0: none, and no thread). An error is thrown at the element that it
/// belongs to. A saved position is that of the elements handed out. Throws  InvalidArgumentError
/// for other sizes below 0. Source  tf.data.Dataset.prefetch
NodePtr prefetch_node(NodePtr input, int64_t buffer_size);

}  // namespace distribute::data
