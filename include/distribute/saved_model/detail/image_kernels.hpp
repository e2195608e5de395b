#pragma once
/// TensorFlow's convolutions, pooling and batch normalization.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/graph_kernels.hpp>

namespace distribute::saved_model_internal {

const Kernels& image_kernels();

}  // namespace distribute::saved_model_internal
