#pragma once
/// Tells a transformation which pass (epoch) an element belongs to.

#include <distribute/base/config.hpp>
#include <distribute/data/node.hpp>

namespace distribute::data {

/// Adds a last component, an int64 scalar that differs from pass to pass over the dataset and is
/// the same in every process. A `map` function can draw random numbers from it that depend on the
/// epoch but not on threads.
NodePtr pass_number_node(NodePtr input);

}  // namespace distribute::data
