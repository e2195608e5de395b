#pragma once
/// Joins examples of different sizes into one batch.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace distribute::data::data_internal {

/// How each component is padded; either may be empty.
struct Padding {
  std::vector<std::vector<int64_t>> shapes;  // -1: the longest
  std::vector<Tensor> values;                // none: zeros
};

/// Examples along a new first axis, filled up at the end of the other axes; `unknown` takes the
/// place of -1 in the shapes where it is not -1 itself.
/// Throws  InvalidArgumentError when dtypes, ranks or numbers of components differ, or an example
///         is longer than its padded shape.
Batch pad_and_stack(const std::vector<Batch>& examples, const Padding& padding,
                    int64_t unknown = -1);
/// What padding leaves of a spec: the ranks and dtypes, and the sizes that are given.
ElementSpec padded_spec(ElementSpec spec, const Padding& padding, int64_t size);

/// Batches of `size` elements, padded where there is a padding.
/// Throws  InvalidArgumentError that names `op` for a size below 1.
NodePtr batches_node(const char* op, NodePtr input, int64_t size, bool drop_remainder,
                     std::optional<Padding> padding);

}  // namespace distribute::data::data_internal
