#pragma once
/// Operations of this library in terms of TensorFlow's.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/inference_node.hpp>

#include <vector>

namespace distribute::saved_model_internal {

/// Translates the operations of a pass, each into one or several nodes.
/// Throws  UnimplementedError that names an operation without a counterpart.
saved_model::InferenceGraph lower_pass(const std::vector<PassOp>& ops,
                                       const saved_model::TraceOptions& options);

}  // namespace distribute::saved_model_internal
