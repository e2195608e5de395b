#pragma once
/// Reductions, slices, borders, joints and lookups as ONNX has them.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/onnx_builder.hpp>

namespace distribute::saved_model_internal {

/// Each translates the builder's node.
OnnxValue onnx_reduction(OnnxBuilder& b);
OnnxValue onnx_bool_reduction(OnnxBuilder& b);
OnnxValue onnx_top_k(OnnxBuilder& b);
/// Of a TopKV2: its indices, int32 as in TensorFlow.
OnnxValue onnx_second_result(OnnxBuilder& b);
OnnxValue onnx_arg_extreme(OnnxBuilder& b);
OnnxValue onnx_slice(OnnxBuilder& b);
OnnxValue onnx_pad(OnnxBuilder& b);
OnnxValue onnx_concat_values(OnnxBuilder& b);
OnnxValue onnx_one_hot(OnnxBuilder& b);

}  // namespace distribute::saved_model_internal
