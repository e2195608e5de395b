#pragma once
/// Convolutions, pooling and batch normalization in terms of TensorFlow's operations.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/graph_builder.hpp>

namespace distribute::saved_model_internal {

/// Each translates the builder's operation and gives the place of its result.
int lower_convolution(GraphBuilder& b, bool depthwise);
int lower_pool(GraphBuilder& b, const char* op);
int lower_average_pool(GraphBuilder& b);
int lower_transposed_convolution(GraphBuilder& b);
int lower_batch_norm(GraphBuilder& b);
int lower_fused_batch_norm(GraphBuilder& b);

}  // namespace distribute::saved_model_internal
