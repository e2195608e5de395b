#pragma once
/// Functions of elements and products of matrices as ONNX has them.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/onnx_builder.hpp>

namespace distribute::saved_model_internal {

/// Each translates the builder's node.
OnnxValue onnx_elementwise(OnnxBuilder& b, const std::string& op,
                           const OnnxAttributes& attributes = {});
/// Functions that ONNX has in pieces.
/// Throws  UnimplementedError for what is none of them.
OnnxValue onnx_composite(OnnxBuilder& b);
OnnxValue onnx_divide_no_nan(OnnxBuilder& b);
OnnxValue onnx_floor_divide(OnnxBuilder& b);
OnnxValue onnx_floor_modulo(OnnxBuilder& b);
OnnxValue onnx_matmul(OnnxBuilder& b);
OnnxValue onnx_batch_matmul(OnnxBuilder& b);

}  // namespace distribute::saved_model_internal
