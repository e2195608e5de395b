#pragma once
/// Transformations that look at elements one by one, some with a state from element to element.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

namespace distribute::data {

/// Gives the elements before the first one for which `predicate` is false.
/// Source  tf.data.Dataset.take_while
NodePtr take_while_node(NodePtr input, Predicate predicate);

/// Gives each element once, where it comes first. A restored position reads the elements before it
/// again.
/// Throws  InvalidArgumentError unless elements are one tensor of int32, int64 or uint8 (bytes).
/// Source  tf.data.Dataset.unique
NodePtr unique_node(NodePtr input);

/// Gives the next state and the result for a state and an element.
using ScanFunction = std::function<std::pair<Batch, Batch>(const Batch& state, const Batch&)>;

/// Calls `function` on every element, with the state that it gave for the element before. The state
/// is a part of saved positions.
/// Throws  InvalidArgumentError while reading for a state of other dtypes or another number of
///         components; what the function throws.
/// Source  tf.data.Dataset.scan
NodePtr scan_node(NodePtr input, Batch initial_state, ScanFunction function,
                  std::optional<ElementSpec> output_spec);

/// Gives the same elements and says how many there are.
/// Throws  InvalidArgumentError for a number below kInfiniteCardinality; FailedPreconditionError
///         while reading when there are more or fewer.
/// Source  tf.data.experimental.assert_cardinality
NodePtr assert_cardinality_node(NodePtr input, int64_t expected_cardinality);

/// Leaves elements out whose making throws an Error other than CancelledError.
/// Source  tf.data.Dataset.ignore_errors
NodePtr ignore_errors_node(NodePtr input, bool log_warning);

namespace data_internal {

/// Gives the spec of what `function` makes of the input's first element. A first axis is unknown if
/// the input's is, when it is an axis of batches or has the same size.
/// Throws  FailedPreconditionError that names `op` for an input without elements.
ElementSpec spec_of_results(const Node& input, const char* op,
                            const std::function<Batch(const Batch&)>& function);

}  // namespace data_internal

}  // namespace distribute::data
