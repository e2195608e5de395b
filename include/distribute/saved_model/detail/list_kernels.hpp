#pragma once
/// TensorFlow's lists of tensors, as loops have them.

#include <distribute/base/config.hpp>
#include <distribute/saved_model/detail/graph_kernels.hpp>

namespace distribute::saved_model_internal {

const Kernels& list_kernels();

}  // namespace distribute::saved_model_internal
