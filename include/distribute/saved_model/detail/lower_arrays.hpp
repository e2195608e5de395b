#pragma once
/// Reductions, slices, borders, lookups and casts in terms of TensorFlow's operations.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/graph_builder.hpp>

namespace distribute::saved_model_internal {

/// Each translates the builder's operation and gives the place of its result.
int lower_reduction(GraphBuilder& b, const char* op);
/// Operations with an attribute "axis".
int lower_along_axis(GraphBuilder& b, const char* op);
int lower_slice(GraphBuilder& b);
int lower_pad(GraphBuilder& b);
int lower_broadcast(GraphBuilder& b);
int lower_one_hot(GraphBuilder& b);
int lower_gather(GraphBuilder& b);
int lower_cast(GraphBuilder& b);

}  // namespace distribute::saved_model_internal
