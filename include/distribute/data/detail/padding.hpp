#pragma once
/// Joins examples of different sizes into one batch.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace distribute::data::data_internal {

/// Describes how each component is padded; either list may be empty.
struct Padding {
  std::vector<std::vector<int64_t>> shapes;  // -1: as long as the longest example
  std::vector<Tensor> values;                // empty tensor: zeros
};

/// Joins examples along a new first axis and pads the ends of the other axes. `unknown` replaces -1
/// in the shapes unless it is -1 itself.
/// Throws  InvalidArgumentError when dtypes, ranks or numbers of components differ, or an example
///         is longer than its padded shape.
Batch pad_and_stack(const std::vector<Batch>& examples, const Padding& padding,
                    int64_t unknown = -1);
/// The spec after padding: ranks, dtypes, and the sizes that are given.
ElementSpec padded_spec(ElementSpec spec, const Padding& padding, int64_t size);

/// Makes batches of `size` elements, padded if there is a padding.
/// Throws  InvalidArgumentError that names `op` for a size below 1.
NodePtr batches_node(const char* op, NodePtr input, int64_t size, bool drop_remainder,
                     std::optional<Padding> padding);

}  // namespace distribute::data::data_internal
