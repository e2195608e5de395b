#pragma once
/// Translates operations of this library to TensorFlow's.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/graph_builder.hpp>
#include <distribute/saved_model/detail/inference_node.hpp>

#include <vector>

namespace distribute::saved_model_internal {

/// Each of the following functions translates the builder's operation and returns the number of its
/// result.
int lower_reduction(GraphBuilder& b, const char* op);
/// Translates operations with an attribute "axis".
int lower_along_axis(GraphBuilder& b, const char* op);
int lower_concat(GraphBuilder& b);
int lower_slice(GraphBuilder& b);
int lower_pad(GraphBuilder& b);
int lower_broadcast(GraphBuilder& b);
int lower_one_hot(GraphBuilder& b);
int lower_gather(GraphBuilder& b);
int lower_cast(GraphBuilder& b);

/// Each of the following functions translates the builder's operation and returns the number of its
/// result.
int lower_convolution(GraphBuilder& b, bool depthwise);
int lower_pool(GraphBuilder& b, const char* op);
int lower_average_pool(GraphBuilder& b);
int lower_transposed_convolution(GraphBuilder& b);
int lower_batch_norm(GraphBuilder& b);
int lower_fused_batch_norm(GraphBuilder& b);

/// Each of the following functions translates the builder's operation and returns the number of its
/// result.
int lower_dense(GraphBuilder& b);
int lower_matmul(GraphBuilder& b);
int lower_layer_norm(GraphBuilder& b);
int lower_activation(GraphBuilder& b);
int lower_clip(GraphBuilder& b);
int lower_softmax(GraphBuilder& b, const char* op);

/// Translates the operations of a pass, each into one or several nodes.
/// Throws  UnimplementedError that names an operation without a counterpart.
saved_model::InferenceGraph lower_pass(const std::vector<PassOp>& ops,
                                       const saved_model::TraceOptions& options);

}  // namespace distribute::saved_model_internal
