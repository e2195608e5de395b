#pragma once
/// An inference graph as ONNX's GraphProto: operations, image layouts and initializers.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/inference_node.hpp>
#include <distribute/saved_model/detail/onnx_builder.hpp>

namespace distribute::saved_model_internal {

/// Throws  UnimplementedError for an operation that ONNX lacks.
OnnxGraph onnx_graph(const saved_model::InferenceGraph& graph);

}  // namespace distribute::saved_model_internal
