#pragma once
/// TensorFlow's reductions, shapes, slices and lookups.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/graph_kernels.hpp>

namespace distribute::saved_model_internal {

const Kernels& array_kernels();

}  // namespace distribute::saved_model_internal
