#pragma once
/// An inference graph as ONNX's GraphProto: operations, image layouts and initializers.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/inference_node.hpp>
#include <distribute/saved_model/detail/onnx_builder.hpp>

namespace distribute::saved_model_internal {

/// Each of the following functions translates the builder's node.
OnnxValue onnx_reduction(OnnxBuilder& b);
OnnxValue onnx_bool_reduction(OnnxBuilder& b);
OnnxValue onnx_top_k(OnnxBuilder& b);
/// Returns the indices of a TopKV2, int32 as in TensorFlow.
OnnxValue onnx_second_result(OnnxBuilder& b);
OnnxValue onnx_arg_extreme(OnnxBuilder& b);
OnnxValue onnx_slice(OnnxBuilder& b);
OnnxValue onnx_pad(OnnxBuilder& b);
OnnxValue onnx_concat_values(OnnxBuilder& b);
OnnxValue onnx_one_hot(OnnxBuilder& b);

/// Each of the following functions translates the builder's node.
OnnxValue onnx_convolution(OnnxBuilder& b);
OnnxValue onnx_transposed_convolution(OnnxBuilder& b);
OnnxValue onnx_pool(OnnxBuilder& b);
OnnxValue onnx_batch_norm(OnnxBuilder& b);

/// Each of the following functions translates the builder's node.
OnnxValue onnx_elementwise(OnnxBuilder& b, const std::string& op,
                           const OnnxAttributes& attributes = {});
/// Translates functions that ONNX lacks as one operation into several.
/// Throws  UnimplementedError for other operations.
OnnxValue onnx_composite(OnnxBuilder& b);
OnnxValue onnx_divide_no_nan(OnnxBuilder& b);
OnnxValue onnx_floor_divide(OnnxBuilder& b);
OnnxValue onnx_floor_modulo(OnnxBuilder& b);
OnnxValue onnx_matmul(OnnxBuilder& b);
OnnxValue onnx_batch_matmul(OnnxBuilder& b);

/// Translates a graph.
/// Throws  UnimplementedError for an operation that ONNX lacks.
OnnxGraph onnx_graph(const saved_model::InferenceGraph& graph);

}  // namespace distribute::saved_model_internal
