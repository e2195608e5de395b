#pragma once
/// Products of matrices, normalization and activations in terms of TensorFlow's operations.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/graph_builder.hpp>

namespace distribute::saved_model_internal {

/// Each translates the builder's operation and gives the place of its result.
int lower_dense(GraphBuilder& b);
int lower_matmul(GraphBuilder& b);
int lower_layer_norm(GraphBuilder& b);
int lower_activation(GraphBuilder& b);
int lower_clip(GraphBuilder& b);
int lower_softmax(GraphBuilder& b, const char* op);

}  // namespace distribute::saved_model_internal
