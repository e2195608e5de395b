#pragma once
/// TensorFlow's functions of elements and products of matrices.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/graph_kernels.hpp>

namespace distribute::saved_model_internal {

const Kernels& math_kernels();

}  // namespace distribute::saved_model_internal
