#pragma once
/// Convolutions, pooling and batch normalization as ONNX has them.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/onnx_builder.hpp>

namespace distribute::saved_model_internal {

/// Each translates the builder's node.
OnnxValue onnx_convolution(OnnxBuilder& b);
OnnxValue onnx_transposed_convolution(OnnxBuilder& b);
OnnxValue onnx_pool(OnnxBuilder& b);
OnnxValue onnx_batch_norm(OnnxBuilder& b);

}  // namespace distribute::saved_model_internal
